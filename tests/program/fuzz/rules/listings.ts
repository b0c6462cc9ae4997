/** The program's rules for listings and their collateral. */
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, key, type Ledger, type StateOf, text } from '../ledger.ts';
import { type Config, config, TREASURY, tierDeposit } from './config.ts';
import { demandSignature, type Proof, possession } from './proof.ts';
import { demandOwned, frozenOrGone, receivesFor } from './token.ts';

export type Listing = StateOf<'AgentListing'>;
export type Collateral = StateOf<'CreatorCollateral'>;

export const collateralOf = (listing: Address): Address => text(program.findCollateral(key(listing)));
export const vaultOf = (listing: Address): Address => text(program.findCollateralVault(key(listing)));
export const available = (collateral: Collateral): bigint => collateral.deposited - collateral.slashed;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bits = (mask: number) => mask.toString(2).replaceAll('0', '').length;

function demandTerms(terms: program.ListingTerms, settings: Config): void {
  demand(terms.price >= settings.minPrice, 'PriceBelowMinimum');
  demand(tierDeposit(settings, terms.price) !== null, 'PriceAboveTiers');
  const { minTimeoutSeconds: least, timeoutSeconds: most } = terms;
  demand(least >= 1 && least <= most && most <= settings.maxTimeoutSeconds, 'InvalidTimeouts');
  demand(terms.tagMask < 1_024 && bits(terms.tagMask) >= 1 && bits(terms.tagMask) <= 5, 'InvalidTags');
  demand(terms.metadataUri.length <= 200, 'UriTooLong');
}

function demandDeposit(settings: Config, collateral: Collateral, price: bigint): void {
  const deposit = tierDeposit(settings, price);
  demand(deposit !== null, 'PriceAboveTiers');
  demand(available(collateral) >= deposit, 'CollateralBelowTier');
}

/** The key must be strong, with a valid proof of possession. */
function demandKey(signingKey: Address, listing: Address, proof: Proof, weak: boolean): void {
  demand(!weak, 'WeakSigningKey');
  demandSignature(proof, signingKey, possession(key(listing)));
}

const tieOf = (signingKey: Address): Address => text(program.findSigningKey(key(signingKey)));

/** The key must be new, or already belong to this listing. */
function tieKey(ledger: Ledger, signingKey: Address, listing: Address, payer: Address): void {
  const address = tieOf(signingKey);
  const tie = ledger.find('SigningKey', address);
  demand(!tie || tie.listing === listing, 'SigningKeyTaken');
  if (!tie) ledger.create('SigningKey', address, payer, { version: 1, bump: 0, key: signingKey, listing });
}

export function listAgent(ledger: Ledger, input: program.ListAgentInput, proof: Proof, weak: boolean): void {
  const settings = config(ledger);
  const [creator, payer, source] = [text(input.creator), text(input.payer), text(input.source)];
  const address = text(program.findListing(input.creator, input.listingId));
  const signingKey = text(input.signingKey);
  const { terms } = input;
  ledger.demandNew(address);
  ledger.demandExempt(tieOf(signingKey));
  demandOwned(ledger, source, creator, 'InvalidDepositSource');
  demandOwned(ledger, text(input.payout), creator, 'InvalidPayout');
  demandTerms(terms, settings);
  const { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri } = terms;
  const deposited = tierDeposit(settings, price)!;
  demand(deposited <= input.maxDeposit, 'DepositAboveMax');
  demand(ledger.token(source).amount >= deposited, 'InsufficientBalance');
  demandKey(signingKey, address, proof, weak);
  ledger.create('AgentListing', address, payer, {
    ...{ version: 1, status: 'active', bump: 0, creator, listingId: hex(input.listingId), payout: text(input.payout) },
    ...{ signingKey, price, timeoutSeconds, minTimeoutSeconds, listingVersion: 1, tagMask, metadataUri },
    ...{ metadataHash: hex(terms.metadataHash), listedAt: ledger.now },
  });
  tieKey(ledger, signingKey, address, payer);
  const vault = vaultOf(address);
  ledger.createToken(vault, payer, vault);
  if (deposited > 0n) ledger.transfer(source, vault, deposited, creator);
  ledger.create('CreatorCollateral', collateralOf(address), payer, {
    ...{ version: 1, returned: false, bump: 0, vaultBump: 0, listing: address, rentSponsor: payer, deposited },
    ...{ slashed: 0n, owed: 0n, forfeited: 0n, exposureOpened: 0n, exposureWindowStart: 0n },
    ...{ returnableAt: 0n, sweepableAt: 0n, openDisputes: 0, reserved: '00'.repeat(24) },
  });
}

/** Loads a listing for an instruction that only its creator may sign. */
function creatorsListing(ledger: Ledger, listing: Address, creator: Address): Listing {
  const found = ledger.state('AgentListing', listing);
  demand(found.creator === creator, 'NotCreator');
  return found;
}

export function updateListing(ledger: Ledger, input: program.UpdateListingInput): void {
  const settings = config(ledger);
  const [address, creator, payout] = [text(input.listing), text(input.creator), text(input.payout)];
  const listing = creatorsListing(ledger, address, creator);
  const collateral = ledger.state('CreatorCollateral', collateralOf(address));
  const { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri } = input.terms;
  demand(listing.status !== 'delisted', 'ListingDelisted');
  demandOwned(ledger, payout, creator, 'InvalidPayout');
  demandTerms(input.terms, settings);
  const isAgreed = price <= listing.price || tierDeposit(settings, price)! <= input.maxDeposit;
  demand(isAgreed, 'DepositAboveMax');
  if (price !== listing.price) demandDeposit(settings, collateral, price);
  const terms = { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri };
  const after = { ...listing, payout, ...terms, metadataHash: hex(input.terms.metadataHash) };
  const same =
    after.metadataHash === listing.metadataHash &&
    Object.entries(terms).every(([field, value]) => listing[field as keyof Listing] === value);
  if (!same) after.listingVersion += 1;
  ledger.change('AgentListing', address, after);
}

export function setListingStatus(ledger: Ledger, input: program.SetListingStatusInput): void {
  const settings = config(ledger);
  const address = text(input.listing);
  const listing = creatorsListing(ledger, address, text(input.creator));
  const collateral = ledger.state('CreatorCollateral', collateralOf(address));
  demand(input.status !== 'delisted', 'InvalidListingTransition');
  if (input.status === 'active') demandDeposit(settings, collateral, listing.price);
  demand(listing.status !== 'delisted' && listing.status !== input.status, 'InvalidListingTransition');
  ledger.change('AgentListing', address, { status: input.status });
}

export function rotateSigningKey(
  ledger: Ledger,
  input: program.RotateSigningKeyInput,
  proof: Proof,
  weak: boolean,
): void {
  const [address, signingKey] = [text(input.listing), text(input.signingKey)];
  const listing = creatorsListing(ledger, address, text(input.creator));
  ledger.demandExempt(tieOf(signingKey));
  demand(listing.status !== 'delisted', 'ListingDelisted');
  demandKey(signingKey, address, proof, weak);
  tieKey(ledger, signingKey, address, text(input.payer));
  ledger.change('AgentListing', address, { signingKey });
}

export function delistAgent(ledger: Ledger, input: program.DelistAgentInput): void {
  const settings = config(ledger);
  const address = text(input.listing);
  const listing = creatorsListing(ledger, address, text(input.creator));
  demand(listing.status !== 'delisted', 'InvalidListingTransition');
  ledger.change('AgentListing', address, { status: 'delisted' });
  const returnableAt = ledger.now + BigInt(settings.longestSpanSeconds);
  ledger.change('CreatorCollateral', collateralOf(address), { returnableAt });
}

export function topUpCollateral(ledger: Ledger, input: program.TopUpCollateralInput): void {
  const [address, creator, source] = [text(input.listing), text(input.creator), text(input.source)];
  const listing = creatorsListing(ledger, address, creator);
  const collateral = ledger.state('CreatorCollateral', collateralOf(address));
  demand(listing.status !== 'delisted', 'ListingDelisted');
  demand(input.amount > 0n, 'InvalidAmount');
  demandOwned(ledger, source, creator, 'InvalidDepositSource');
  demand(ledger.token(source).amount >= input.amount, 'InsufficientBalance');
  ledger.transfer(source, vaultOf(address), input.amount, creator);
  ledger.change('CreatorCollateral', collateralOf(address), { deposited: collateral.deposited + input.amount });
}

export function returnCollateral(ledger: Ledger, input: program.ReturnCollateralInput): void {
  const address = text(input.listing);
  const listing = ledger.state('AgentListing', address);
  const collateral = ledger.state('CreatorCollateral', collateralOf(address));
  demand(collateral.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  const destination = text(program.findTokenAccount(input.creator, input.usdcMint));
  demand(listing.creator === text(input.creator), 'ConstraintSeeds');
  demand(receivesFor(ledger, destination, listing.creator), 'DestinationUnusable');
  const { returned, returnableAt, owed } = collateral;
  // A second return is possible only for a leftover vault.
  const again = isSpent(collateral) && ledger.get(vaultOf(address)).token !== undefined;
  const mayReturn = (!returned || again) && returnableAt !== 0n && ledger.now >= returnableAt;
  demand(mayReturn, 'CollateralNotReturnable');
  demand(collateral.openDisputes === 0, 'DisputesOpen');
  const vault = vaultOf(address);
  const takes = !config(ledger).guardianPaused && !frozenOrGone(ledger, TREASURY);
  const [toTreasury, forfeited] = takes ? [collateral.forfeited, 0n] : [0n, collateral.forfeited];
  const amount = ledger.token(vault).amount - owed - collateral.forfeited;
  if (toTreasury > 0n) ledger.transfer(vault, TREASURY, toTreasury, vault);
  if (amount > 0n) ledger.transfer(vault, destination, amount, vault);
  ledger.change('CreatorCollateral', collateralOf(address), { returned: true, forfeited });
  const vaultClosed = closeSpentVault(ledger, address);
  demand(vaultClosed || !again, 'CollateralNotReturnable');
  ledger.tell({ amount, toTreasury, destination, vaultClosed });
}

const isSpent = ({ returned, owed, forfeited }: Collateral): boolean => returned && owed === 0n && forfeited === 0n;

/** Closes a vault that is empty and no longer needed. Returns true if it was closed. */
export function closeSpentVault(ledger: Ledger, listing: Address): boolean {
  const [book, vault] = [collateralOf(listing), vaultOf(listing)];
  const collateral = ledger.state('CreatorCollateral', book);
  if (!isSpent(collateral) || ledger.token(vault).amount > 0n) return false;
  return ledger.closeOurs(vault, collateral.rentSponsor, book);
}

export function sweepForfeits(ledger: Ledger, input: Parameters<typeof program.sweepForfeits>[0]): void {
  const [address, now] = [text(input.listing), ledger.now];
  const book = collateralOf(address);
  const { rentSponsor, forfeited, openDisputes, sweepableAt, returnableAt } = ledger.state('CreatorCollateral', book);
  demand(rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(!config(ledger).guardianPaused, 'TreasuryPaused');
  demand(!frozenOrGone(ledger, TREASURY), 'DestinationUnusable');
  demand(forfeited > 0n, 'NothingForfeited');
  demand(openDisputes === 0, 'DisputesOpen');
  demand(now >= sweepableAt || (returnableAt !== 0n && now >= returnableAt), 'ForfeitsNotSweepable');
  ledger.transfer(vaultOf(address), TREASURY, forfeited, vaultOf(address));
  ledger.change('CreatorCollateral', book, { forfeited: 0n });
  ledger.tell({ amount: forfeited, vaultClosed: closeSpentVault(ledger, address) });
}
