/** Steps of creators: listings, their keys and their collateral. */
import type { Keypair } from '@solana/web3.js';
import { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { TERMS } from '../../../harness/vm/world.ts';
import { CREATORS, keypairOf, MINT, SIGNING_KEYS, STRANGER, spareAccount, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Address, key, type Ledger, text } from '../ledger.ts';
import { config, tierDeposit } from '../rules/config.ts';
import * as rules from '../rules/listings.ts';
import { type Proof, possession, signatureOf } from '../rules/proof.ts';
import { bytesOf, fromHex, type Planner, plan, somePayer, until } from './plan.ts';

const PRICES = [1_234_567n, 10_000n, 19_999n, 1_000_000n, 2_000_000n, 2_000_001n, 5_000_000n, 9_999_999n, 33_333_333n];
const LISTINGS_EACH = 3;
/** The point of order one and the zero key. */
const WEAK = [new PublicKey(bytesOf(1, 32)), PublicKey.default];

/** A listing, usually one that is wanted. */
export function someListing(ledger: Ledger, draw: Draw, wanted: (listing: rules.Listing, address: Address) => boolean) {
  return draw.prefer(ledger.all('AgentListing'), ([address, listing]) => wanted(listing, address));
}

/** This listing, rarely any. */
export function mostly(ledger: Ledger, draw: Draw, listing: Address): PublicKey {
  return key(draw.maybe(4) ? draw.of([...ledger.all('AgentListing')])[0] : listing);
}

function someTerms(ledger: Ledger, draw: Draw, fits: (price: bigint) => boolean): program.ListingTerms {
  const settings = config(ledger);
  const price = draw.lean(PRICES, (amount) => amount >= settings.minPrice && fits(amount));
  const most = Math.min(draw.of([60, 1, 300, 3_600]), settings.maxTimeoutSeconds);
  const terms = {
    ...TERMS,
    price,
    timeoutSeconds: most,
    minTimeoutSeconds: draw.of([1, most]),
    metadataHash: new Uint8Array(32).fill(draw.of([7, 8])),
  };
  const faults = {
    none: {},
    cheap: { price: settings.minPrice - 1n },
    dear: { price: 1_000_000_000_000n },
    backwards: { minTimeoutSeconds: most + 1 },
    instant: { minTimeoutSeconds: 0 },
    slow: { timeoutSeconds: settings.maxTimeoutSeconds + 1 },
    untagged: { tagMask: 0 },
    overtagged: { tagMask: 0b111111 },
    unknownTag: { tagMask: 0b10000000000 },
    long: { metadataUri: 'u'.repeat(201) },
  };
  const names = Object.keys(faults).filter((name) => name !== 'none') as (keyof typeof faults)[];
  return { ...terms, ...faults[draw.maybe(8) ? draw.of(names) : 'none'] };
}

interface KeyChoice {
  signingKey: PublicKey;
  proof: Proof;
  weak: boolean;
}

/** A signing key for a listing, with a valid or invalid proof of possession. */
function someKey(ledger: Ledger, draw: Draw, listing: Address): KeyChoice {
  const tie = (pair: Keypair) => ledger.find('SigningKey', text(program.findSigningKey(pair.publicKey)))?.listing;
  const pair = draw.lean(SIGNING_KEYS, (candidate) => (tie(candidate) ?? listing) === listing);
  const message = possession(key(listing));
  const other = SIGNING_KEYS.find((candidate) => candidate !== pair)!;
  const proofs: Record<string, Proof> = {
    none: { by: pair, message },
    others: { by: other, message },
    elsewhere: { by: pair, message: possession(STRANGER) },
    brokenR: { by: pair, message, broken: 0 },
    brokenS: { by: pair, message, broken: 63 },
  };
  const fault = draw.maybe(12) ? draw.of(Object.keys(proofs)) : 'none';
  const weak = draw.maybe(4);
  return { signingKey: weak ? draw.of(WEAK) : pair.publicKey, proof: proofs[fault]!, weak };
}

const freeIds = (ledger: Ledger, creator: PublicKey) =>
  Array.from({ length: LISTINGS_EACH }, (_, index) => bytesOf(index + 1, 16)).filter(
    (id) => !ledger.find('AgentListing', text(program.findListing(creator, id))),
  );

/** The maximum deposit that the creator accepts, usually exactly the required one. */
function someDeposit(ledger: Ledger, draw: Draw, price: bigint): bigint {
  const deposit = tierDeposit(config(ledger), price) ?? 0n;
  return draw.maybe(5) && deposit > 0n ? deposit - 1n : deposit;
}

export const listAgent: Planner = ({ ledger }, draw) => {
  const creator = draw.lean(CREATORS, (candidate) => freeIds(ledger, candidate).length > 0);
  const [free] = freeIds(ledger, creator);
  if (!free && !draw.maybe(30)) return null;
  const listingId = free && draw.fault('taken') === 'none' ? free : bytesOf(1, 16);
  const listing = text(program.findListing(creator, listingId));
  const source = draw.lean([wallet(creator), spareAccount(creator)], (account) => {
    const { token } = ledger.get(account);
    return token?.owner === text(creator) && !token.frozen && token.amount >= 200_000_000n;
  });
  const { signingKey, proof, weak } = someKey(ledger, draw, listing);
  const fault = draw.maybe(8) ? draw.of(['source', 'payout'] as const) : 'none';
  const terms = someTerms(ledger, draw, (price) => tierDeposit(config(ledger), price) !== null);
  const input = {
    ...{ creator, listingId, signingKey, usdcMint: MINT, payer: somePayer(ledger, draw, creator) },
    possession: signatureOf(proof),
    source: key(fault === 'source' ? wallet(STRANGER) : source),
    payout: key(fault === 'payout' ? spareAccount(STRANGER) : draw.of([wallet(creator), spareAccount(creator)])),
    ...{ maxDeposit: someDeposit(ledger, draw, terms.price), terms },
  };
  return plan('AgentListed', program.listAgent, input, rules.listAgent, proof, weak);
};

/** The listing's creator, sometimes somebody else. */
function someSigner(draw: Draw, creator: Address) {
  return draw.maybe(8) ? draw.of([STRANGER, ...CREATORS]) : key(creator);
}

export const updateListing: Planner = ({ ledger }, draw) => {
  const found = someListing(ledger, draw, ({ status }) => status !== 'delisted');
  if (!found) return null;
  const [address, listing] = found;
  const collateral = ledger.find('CreatorCollateral', rules.collateralOf(address))!;
  const affordable = (price: bigint) => {
    const deposit = tierDeposit(config(ledger), price);
    return deposit !== null && deposit <= rules.available(collateral);
  };
  const { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri } = listing;
  const present = { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri };
  const kept = { ...present, metadataHash: fromHex(listing.metadataHash) };
  const creator = key(listing.creator);
  const terms = draw.maybe(20) ? kept : someTerms(ledger, draw, affordable);
  const input = {
    creator: someSigner(draw, listing.creator),
    listing: key(address),
    maxDeposit: someDeposit(ledger, draw, terms.price),
    payout: key(draw.maybe(8) ? wallet(STRANGER) : draw.of([wallet(creator), spareAccount(creator)])),
    terms,
  };
  return plan('ListingUpdated', program.updateListing, input, rules.updateListing);
};

export const setListingStatus: Planner = ({ ledger }, draw) => {
  // Pauses are rare and end soon, because most steps fail while they last.
  const wanted = draw.maybe(20) ? 'active' : 'paused';
  const found = someListing(ledger, draw, ({ status }) => status === wanted);
  if (!found) return null;
  const [address, listing] = found;
  const turned = listing.status === 'active' ? 'paused' : 'active';
  const status = draw.maybe(10) ? draw.of(['active', 'paused', 'delisted'] as const) : turned;
  const input = { creator: someSigner(draw, listing.creator), listing: key(address), status };
  return plan('ListingStatusChanged', program.setListingStatus, input, rules.setListingStatus);
};

export const rotateSigningKey: Planner = ({ ledger }, draw) => {
  const found = someListing(ledger, draw, ({ status }) => status !== 'delisted');
  if (!found) return null;
  const [address, listing] = found;
  const { signingKey, proof, weak } = someKey(ledger, draw, address);
  const creator = someSigner(draw, listing.creator);
  const payer = somePayer(ledger, draw, creator);
  const input = { creator, payer, listing: key(address), signingKey, possession: signatureOf(proof) };
  return plan('SigningKeyRotated', program.rotateSigningKey, input, rules.rotateSigningKey, proof, weak);
};

export const delistAgent: Planner = ({ ledger }, draw) => {
  const listed = [...ledger.all('AgentListing')].filter(([, { status }]) => status !== 'delisted').length;
  const found = someListing(ledger, draw, ({ status }) => status !== 'delisted' && listed > 1);
  if (!found) return null;
  const [address, listing] = found;
  const input = { creator: someSigner(draw, listing.creator), listing: key(address) };
  return plan('AgentDelisted', program.delistAgent, input, rules.delistAgent);
};

export const topUpCollateral: Planner = ({ ledger }, draw) => {
  const short = (listing: rules.Listing, address: Address) => {
    const collateral = ledger.find('CreatorCollateral', rules.collateralOf(address))!;
    return listing.status !== 'delisted' && collateral.slashed > 0n;
  };
  const found = someListing(ledger, draw, short);
  if (!found) return null;
  const [address, listing] = found;
  const creator = key(listing.creator);
  const account = draw.maybe(8) ? spareAccount(STRANGER) : draw.of([wallet(creator), spareAccount(creator)]);
  const held = ledger.get(account).token?.amount ?? 0n;
  const { slashed } = ledger.find('CreatorCollateral', rules.collateralOf(address))!;
  const amounts = { none: draw.of([slashed || 1n, 1n, 10_000_000n]), zero: 0n, above: held + 1n };
  const amount = amounts[draw.fault('zero', 'above')];
  const input = { creator: someSigner(draw, listing.creator), listing: key(address), source: key(account), amount };
  return plan('CollateralToppedUp', program.topUpCollateral, input, rules.topUpCollateral);
};

export const returnCollateral: Planner = ({ ledger }, draw) => {
  const due = (_: rules.Listing, address: Address) => {
    const { returned, returnableAt } = ledger.find('CreatorCollateral', rules.collateralOf(address))!;
    return !returned && returnableAt !== 0n && ledger.now >= returnableAt;
  };
  const found = someListing(ledger, draw, due);
  const waiting = [...ledger.all('CreatorCollateral')].filter(([, { returned }]) => !returned);
  if (!found)
    return until(
      ledger,
      waiting.map(([, { returnableAt }]) => returnableAt),
    );
  const [address, listing] = found;
  const { rentSponsor } = ledger.find('CreatorCollateral', rules.collateralOf(address))!;
  const input = {
    creator: draw.maybe(5) ? STRANGER : key(listing.creator),
    listing: key(address),
    usdcMint: MINT,
    rentSponsor: draw.maybe(5) ? STRANGER : key(rentSponsor),
  };
  return plan('CollateralReturned', program.returnCollateral, input, rules.returnCollateral);
};

export const sweepForfeits: Planner = ({ ledger }, draw) => {
  const books = [...ledger.all('CreatorCollateral')].filter(([, { forfeited }]) => forfeited > 0n);
  const due = ({ openDisputes, sweepableAt }: rules.Collateral) => openDisputes === 0 && ledger.now >= sweepableAt;
  const found = draw.prefer(books, ([, book]) => due(book))?.[1];
  if (!found) return null;
  if (!due(found) && draw.maybe(60)) return until(ledger, [found.sweepableAt]);
  const input = { listing: key(found.listing), rentSponsor: draw.maybe(5) ? STRANGER : key(found.rentSponsor) };
  return plan('ForfeitsSwept', program.sweepForfeits, input, rules.sweepForfeits);
};

/** The keypair of a signing key in the pool. */
export function signerOf(signingKey: Address): Keypair {
  const pair = keypairOf(signingKey);
  if (!pair) throw new Error(`${signingKey} is no signing key of the pool`);
  return pair;
}
