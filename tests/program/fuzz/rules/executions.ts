/** What the program promises about a paid call: open, settle or refund, close. */
import * as program from '../../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../../app/sdk/receipt/receipt.ts';
import { type Address, demand, key, type Ledger, type StateOf, text } from '../ledger.ts';
import { config, TREASURY, ZERO_HASH } from './config.ts';
import { type Grant, NO_KEY, restore, spend } from './grants.ts';
import { available, collateralOf, type Listing } from './listings.ts';
import { demandSignature, type Proof, result } from './proof.ts';
import { demandOwned, frozenOrGone, receivesFor } from './token.ts';

export type ExecutionRecord = StateOf<'ExecutionRecord'>;

const WEEK = 604_800n;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
export const recordOf = (executionId: Uint8Array): Address => text(program.findExecution(executionId));
export const escrowOf = (executionId: Uint8Array): Address =>
  text(program.findEscrow(program.findExecution(executionId)));

interface Opening {
  terms: program.OpenTerms;
  caller: Address;
  callerBytes: Uint8Array;
  payer: Address;
  source: Address;
  /** Who moves the price: the caller, or its spender. */
  mover: Address;
  listing: Address;
  grant: { address: Address; value: Grant } | null;
}

function demandTerms(ledger: Ledger, opening: Opening, listing: Listing): void {
  const { terms } = opening;
  const settings = config(ledger);
  demand(!settings.opensPaused, 'OpensPaused');
  demand(listing.status === 'active', 'ListingNotActive');
  demand(listing.price <= terms.maxPrice, 'PriceAboveMax');
  demand(listing.listingVersion === terms.listingVersion, 'ListingVersionMismatch');
  const { timeoutSeconds } = terms;
  const offered = listing.minTimeoutSeconds <= timeoutSeconds && timeoutSeconds <= listing.timeoutSeconds;
  demand(offered && timeoutSeconds <= settings.maxTimeoutSeconds, 'TimeoutOutOfRange');
  demand(ledger.now <= terms.openBefore, 'OpenTooLate');
  const id = deriveExecutionId(opening.callerBytes, terms.nonce);
  demand(hex(id) === hex(terms.executionId), 'WrongExecutionId');
  demandOwned(ledger, opening.source, opening.caller, 'InvalidSource');
  demand(ledger.token(opening.source).amount >= listing.price, 'InsufficientBalance');
}

/** What both opens do once the grant, if there is one, has been asked. */
function fund(ledger: Ledger, opening: Opening, listing: Listing): void {
  const settings = config(ledger);
  const { now } = ledger;
  const { price } = listing;
  const { terms, caller, payer } = opening;
  const book = collateralOf(opening.listing);
  const collateral = ledger.state('CreatorCollateral', book);
  if (settings.exposureMultiple > 0) {
    const over = now - collateral.exposureWindowStart >= BigInt(settings.disputeWindowSeconds);
    const exposureOpened = (over ? 0n : collateral.exposureOpened) + price;
    const limit = available(collateral) * BigInt(settings.exposureMultiple);
    demand(exposureOpened <= limit, 'ExposureLimitReached');
    const exposureWindowStart = over ? now : collateral.exposureWindowStart;
    ledger.change('CreatorCollateral', book, { exposureOpened, exposureWindowStart });
  }
  const deadline = now + BigInt(terms.timeoutSeconds);
  const escrow = escrowOf(terms.executionId);
  ledger.create('ExecutionRecord', recordOf(terms.executionId), payer, {
    ...{ version: 1, status: 'open', bump: 0, escrowBump: 0, executionId: hex(terms.executionId), caller },
    ...{ listing: opening.listing, signingKey: listing.signingKey, keyId: opening.grant?.value.keyId ?? NO_KEY },
    ...{ rentSponsor: payer, price, requestHash: hex(terms.requestHash), resultHash: ZERO_HASH, openedAt: now },
    ...{ deadline, refundAt: deadline + BigInt(settings.refundGraceSeconds), settledAt: 0n, executionTimeMs: 0 },
    ...{ disputeWindowSeconds: settings.disputeWindowSeconds, listingVersion: listing.listingVersion },
    feeBps: settings.feeBps,
  });
  ledger.createToken(escrow, payer, recordOf(terms.executionId));
  ledger.transfer(opening.source, escrow, price, opening.mover);
}

export function openExecution(ledger: Ledger, input: program.OpenExecutionInput): void {
  config(ledger);
  const caller = text(input.caller);
  const listing = ledger.state('AgentListing', text(input.listing));
  const opening = {
    ...{ terms: input, caller, callerBytes: input.caller.toBytes(), mover: caller, grant: null },
    ...{ payer: text(input.payer), source: text(input.source), listing: text(input.listing) },
  };
  demandTerms(ledger, opening, listing);
  fund(ledger, opening, listing);
}

export function openExecutionWithGrant(ledger: Ledger, input: program.OpenExecutionWithGrantInput): void {
  const { wallet, keyId, usdcMint } = input;
  const settings = config(ledger);
  const listing = ledger.state('AgentListing', text(input.listing));
  const address = text(program.findGrant(wallet, keyId));
  const grant = ledger.state('KeyGrant', address);
  demand(settings.relayAuthority === text(input.relayAuthority), 'NotRelayAuthority');
  const spender = text(program.findSpender(wallet));
  const opening = {
    ...{ terms: input, caller: text(wallet), callerBytes: wallet.toBytes(), mover: spender },
    ...{ payer: text(input.payer), source: text(program.findTokenAccount(wallet, usdcMint)) },
    ...{ listing: text(input.listing), grant: { address, value: grant } },
  };
  demandTerms(ledger, opening, listing);
  const source = ledger.token(opening.source);
  const allowed = source.delegate === spender ? source.delegatedAmount : 0n;
  demand(allowed >= listing.price, 'InsufficientAllowance');
  ledger.change('KeyGrant', address, spend(grant, listing.price, ledger.now));
  fund(ledger, opening, listing);
}

export function settleExecution(ledger: Ledger, input: program.SettleExecutionInput, proof: Proof): void {
  const settings = config(ledger);
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  const listing = ledger.state('AgentListing', text(input.listing));
  const payout = text(input.payout);
  demand(settings.relayAuthority === text(input.relayAuthority), 'NotRelayAuthority');
  demand(record.listing === text(input.listing), 'WrongListing');
  demand(record.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(listing.payout === payout, 'WrongPayout');
  demand(record.status === 'open', 'ExecutionNotOpen');
  demandSignature(proof, record.signingKey, result(input.resultHash));
  demand(!frozenOrGone(ledger, payout), 'PayoutUnusable');
  demand(ledger.now < record.refundAt, 'SettleWindowClosed');
  const escrow = escrowOf(input.executionId);
  const held = ledger.token(escrow).amount;
  const feeBps = frozenOrGone(ledger, TREASURY) ? 0 : record.feeBps;
  const fee = (record.price * BigInt(feeBps)) / 10_000n;
  // Dust goes with the fee to the treasury; where that cannot receive, the creator gets all.
  const toCreator = frozenOrGone(ledger, TREASURY) ? held : record.price - fee;
  if (toCreator > 0n) ledger.transfer(escrow, payout, toCreator, address);
  if (held > toCreator) ledger.transfer(escrow, TREASURY, held - toCreator, address);
  ledger.closeToken(escrow, record.rentSponsor);
  const { executionTimeMs } = input;
  const resultHash = hex(input.resultHash);
  const changed = { status: 'completed', feeBps, resultHash, executionTimeMs, settledAt: ledger.now } as const;
  ledger.change('ExecutionRecord', address, changed);
}

export function refundExecution(ledger: Ledger, input: program.RefundExecutionInput): void {
  const { relayAuthority, usdcMint } = config(ledger);
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  const [authority, destination] = [text(input.authority), text(input.destination)];
  demand(record.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(authority === relayAuthority || ledger.now >= record.refundAt, 'RefundTooEarly');
  const associated = text(program.findTokenAccount(key(record.caller), key(usdcMint)));
  demand(authority === record.caller || destination === associated, 'WrongRefundDestination');
  demand(receivesFor(ledger, destination, record.caller), 'RefundDestinationUnusable');
  const grantAddress = text(program.findGrant(input.caller, input.keyId));
  demand(record.keyId === NO_KEY || record.keyId === hex(input.keyId), 'WrongGrant');
  demand(record.status === 'open', 'ExecutionNotOpen');
  const escrow = escrowOf(input.executionId);
  ledger.transfer(escrow, destination, ledger.token(escrow).amount, address);
  ledger.closeToken(escrow, record.rentSponsor);
  ledger.change('ExecutionRecord', address, { status: 'refunded', settledAt: ledger.now });
  const grant = record.keyId === NO_KEY ? null : ledger.find('KeyGrant', grantAddress);
  const restored = grant && restore(grant, record.price, record.openedAt);
  if (restored) ledger.change('KeyGrant', grantAddress, restored);
}

export function closeExecution(ledger: Ledger, input: program.CloseExecutionInput): void {
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  demand(record.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(record.status === 'refunded', 'ExecutionNotRefunded');
  demand(ledger.now >= record.openedAt + WEEK, 'CloseTooEarly');
  ledger.close(address, record.rentSponsor);
}
