/** The program's rules for a paid call: open, settle or refund, close. */
import * as program from '../../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../../app/sdk/receipt/receipt.ts';
import { type Address, demand, key, type Ledger, SIZES, type StateOf, TOKEN_ACCOUNT_BYTES, text } from '../ledger.ts';
import { addLeaves } from './archive.ts';
import { config, NOBODY, relaysOf, TREASURY, UNCLAIMED, ZERO_HASH } from './config.ts';
import { demandSoundGasBalance, type Grant, MAX_GAS, NO_KEY, restore, spend } from './grants.ts';
import { available, collateralOf, type Listing } from './listings.ts';
import { demandSignature, type Proof, result } from './proof.ts';
import { demandOwned, frozenOrGone, receivesFor } from './token.ts';
import { demandUndeliverable } from './unclaimed.ts';

export type ExecutionRecord = StateOf<'ExecutionRecord'>;

const HALF_HOUR = 1_800n;
const YEAR = 31_536_000n;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const ids = new Map<Address, Uint8Array>();

export function recordOf(executionId: Uint8Array): Address {
  const address = text(program.findExecution(executionId));
  ids.set(address, executionId);
  return address;
}

/** The execution id of a record that the sequence has named. The record may be closed. */
export function idOf(record: Address): Uint8Array {
  const id = ids.get(record);
  if (!id) throw new Error(`no execution is at ${record}`);
  return id;
}

export const escrowOf = (executionId: Uint8Array): Address =>
  text(program.findEscrow(program.findExecution(executionId)));

interface Opening {
  terms: program.OpenTerms;
  caller: Address;
  callerBytes: Uint8Array;
  /** The accounts that lend the record's rent and the escrow's, pay the gas, and get the record's rent back. */
  lender: Address;
  escrowLender: Address;
  gasGiver: Address;
  rentSponsor: Address;
  source: Address;
  /** The authority of the price's transfer: the caller, or its spender. */
  mover: Address;
  listing: Address;
  grant: { address: Address; value: Grant } | null;
  /** The price that a deposit was paid for. It must equal the listing's price. */
  depositPrice?: bigint;
}

function demandTerms(ledger: Ledger, opening: Opening, listing: Listing): void {
  const { terms } = opening;
  const settings = config(ledger);
  demand(!settings.adminPaused && !settings.guardianPaused, 'OpensPaused');
  demand(listing.status === 'active', 'ListingNotActive');
  demand(listing.price <= terms.maxPrice, 'PriceAboveMax');
  demand(listing.listingVersion === terms.listingVersion, 'ListingVersionMismatch');
  const { timeoutSeconds } = terms;
  const offered = listing.minTimeoutSeconds <= timeoutSeconds && timeoutSeconds <= listing.timeoutSeconds;
  demand(offered && timeoutSeconds <= settings.maxTimeoutSeconds, 'TimeoutOutOfRange');
  demand(ledger.now <= terms.openBefore, 'OpenTooLate');
  demand(terms.gasLamports <= MAX_GAS, 'GasOutOfBounds');
  const present = ledger.now / HALF_HOUR;
  demand([present, present - 1n].includes(halfHourOf(terms.nonce)), 'WrongNonceHalfHour');
  const id = deriveExecutionId(opening.callerBytes, terms.nonce);
  demand(hex(id) === hex(terms.executionId), 'WrongExecutionId');
  const { depositPrice = listing.price } = opening;
  demand(listing.price === depositPrice, 'DepositTermsMismatch');
  const own = [recordOf(terms.executionId), escrowOf(terms.executionId)];
  demand(!own.includes(opening.rentSponsor), 'InvalidRentSponsor');
}

function demandSource(ledger: Ledger, { source, caller }: Opening, { price }: Listing): void {
  demandOwned(ledger, source, caller, 'InvalidSource');
  demand(ledger.token(source).amount >= price, 'InsufficientBalance');
}

/** The half-hour in the first bytes of a nonce. */
const halfHourOf = (nonce: Uint8Array): bigint => BigInt(Buffer.from(nonce).readUInt32LE(0));

/** The common part of all opens, after checks of a grant. Moves `amount` into the escrow. */
function fund(ledger: Ledger, opening: Opening, listing: Listing, amount = listing.price): void {
  const settings = config(ledger);
  const { now } = ledger;
  const { price } = listing;
  const { terms, caller, lender, escrowLender, gasGiver, rentSponsor } = opening;
  const gasBalanceLends = opening.grant !== null && escrowLender === gasGiver;
  const book = collateralOf(opening.listing);
  const collateral = ledger.state('CreatorCollateral', book);
  const over = now - collateral.exposureWindowStart >= BigInt(settings.disputeWindowSeconds);
  const exposureOpened = (over ? 0n : collateral.exposureOpened) + price;
  const limit = available(collateral) * BigInt(settings.exposureMultiple);
  demand(settings.exposureMultiple === 0 || exposureOpened <= limit, 'ExposureLimitReached');
  const exposureWindowStart = over ? now : collateral.exposureWindowStart;
  ledger.change('CreatorCollateral', book, { exposureOpened, exposureWindowStart });
  const deadline = now + BigInt(terms.timeoutSeconds);
  const escrow = escrowOf(terms.executionId);
  const record = recordOf(terms.executionId);
  const value: ExecutionRecord = {
    ...{ version: 1, status: 'open', bump: 0, escrowBump: 0, executionId: hex(terms.executionId), caller },
    spenderBump: gasBalanceLends ? program.findSpenderBump(key(caller)) : 0,
    ...{ listing: opening.listing, signingKey: listing.signingKey, keyId: opening.grant?.value.keyId ?? NO_KEY },
    ...{ rentSponsor, price, requestHash: hex(terms.requestHash), resultHash: ZERO_HASH, openedAt: now },
    ...{ deadline, refundAt: deadline + BigInt(settings.refundGraceSeconds), settledAt: 0n, executionTimeMs: 0 },
    ...{ disputeWindowSeconds: settings.disputeWindowSeconds, listingVersion: listing.listingVersion },
    ...{ gasLamports: terms.gasLamports, feeBps: settings.feeBps },
  };
  const gas = BigInt(terms.gasLamports);
  const together = lender === gasGiver;
  ledger.create('ExecutionRecord', record, lender, value, together ? gas : 0n);
  if (!together) ledger.moveLamports(gasGiver, record, gas);
  ledger.createToken(escrow, escrowLender, record);
  ledger.transfer(opening.source, escrow, amount, opening.mover);
}

export function openExecution(ledger: Ledger, input: program.OpenExecutionInput): void {
  config(ledger);
  const [caller, payer] = [text(input.caller), text(input.payer)];
  const listing = ledger.state('AgentListing', text(input.listing));
  const opening = {
    ...{ terms: input, caller, callerBytes: input.caller.toBytes(), mover: caller, grant: null },
    ...{ lender: payer, escrowLender: payer, gasGiver: payer, rentSponsor: text(input.rentSponsor) },
    ...{ source: text(input.source), listing: text(input.listing) },
  };
  demandTerms(ledger, opening, listing);
  demandSource(ledger, opening, listing);
  fund(ledger, opening, listing);
  ledger.tell({ feeLamports: 0, spenderLendsEscrow: false, deposit: NOBODY, grantTotalSpent: 0n });
}

export function openExecutionWithGrant(ledger: Ledger, input: program.OpenExecutionWithGrantInput): void {
  const { wallet, keyId, usdcMint } = input;
  const settings = config(ledger);
  const listing = ledger.state('AgentListing', text(input.listing));
  const address = text(program.findGrant(wallet, keyId));
  const grant = ledger.state('KeyGrant', address);
  demand(relaysOf(settings).includes(text(input.relayAuthority)), 'NotRelayAuthority');
  const spender = text(program.findSpender(wallet));
  const rentSponsor = text(input.rentSponsor);
  const payer = text(input.payer);
  const gasBalanceLendsBoth = rentSponsor === spender;
  const gasBalanceLendsEscrow = input.spenderLendsEscrow || gasBalanceLendsBoth;
  const opening = {
    ...{ terms: input, caller: text(wallet), callerBytes: wallet.toBytes(), mover: spender },
    ...{ lender: gasBalanceLendsBoth ? spender : payer, escrowLender: gasBalanceLendsEscrow ? spender : payer },
    ...{ gasGiver: spender, rentSponsor },
    ...{ source: text(program.findTokenAccount(wallet, usdcMint)), listing: text(input.listing) },
    grant: { address, value: grant },
  };
  demandTerms(ledger, opening, listing);
  const spent = input.feeLamports + input.gasLamports;
  demand(spent <= grant.maxGasLamports, 'GrantGasExceeded');
  const lent = [gasBalanceLendsEscrow ? TOKEN_ACCOUNT_BYTES : null, gasBalanceLendsBoth ? SIZES.ExecutionRecord : null];
  const taken = lent.reduce((sum, bytes) => sum + (bytes === null ? 0n : ledger.rent(bytes)), BigInt(spent));
  demand(ledger.get(spender).lamports >= taken, 'GasBalanceTooLow');
  demandSource(ledger, opening, listing);
  const source = ledger.token(opening.source);
  const allowed = source.delegate === spender ? source.delegatedAmount : 0n;
  demand(allowed >= listing.price, 'InsufficientAllowance');
  ledger.change('KeyGrant', address, spend(grant, listing.price, ledger.now));
  fund(ledger, opening, listing);
  ledger.tell({ feeLamports: input.feeLamports, spenderLendsEscrow: gasBalanceLendsEscrow, deposit: NOBODY });
  ledger.moveLamports(spender, payer, BigInt(input.feeLamports));
  if (gasBalanceLendsEscrow || spent > 0) demandSoundGasBalance(ledger, spender);
}

/** Opens from a deposit after its terms were checked. `pay` takes the fee and returns the rest. */
export function openFunded(
  ledger: Ledger,
  input: program.OpenExecutionFromDepositInput,
  { price, ...deposit }: { caller: Address; mover: Address; source: Address; price: bigint },
  pay: () => bigint,
): void {
  const listing = ledger.state('AgentListing', text(input.listing));
  const payer = text(input.payer);
  const opening = {
    ...{ terms: input, callerBytes: key(deposit.caller).toBytes(), grant: null, depositPrice: price, ...deposit },
    ...{ lender: payer, escrowLender: payer, gasGiver: payer, rentSponsor: text(input.rentSponsor) },
    listing: text(input.listing),
  };
  demandTerms(ledger, opening, listing);
  fund(ledger, opening, listing, pay());
}

/** The account that lent the rent of a record's escrow. */
function escrowLenderOf({ spenderBump, caller, rentSponsor }: ExecutionRecord): Address {
  return spenderBump === 0 ? rentSponsor : text(program.findSpender(key(caller)));
}

/** The account that gave the gas: the gas balance of a grant's wallet, else the rent sponsor. */
const giverOf = ({ keyId, caller, rentSponsor }: ExecutionRecord): Address =>
  keyId === NO_KEY ? rentSponsor : text(program.findSpender(key(caller)));

/**
 * Pays the gas above `taken` back to its giver, if it can receive it. The rest goes to the first of these that can
 * receive it, else to the rent sponsor. Otherwise it stays.
 */
function payGas(ledger: Ledger, address: Address, taken: number, first: Address[]): void {
  const record = ledger.state('ExecutionRecord', address);
  const gas = ledger.spendable(address, BigInt(record.gasLamports));
  const rest = gas > BigInt(taken) ? gas - BigInt(taken) : 0n;
  const back = rest > 0n && ledger.canTake(giverOf(record), rest) ? rest : 0n;
  const left = gas - back;
  const receivers = [...first, record.rentSponsor];
  const receiver = receivers.find((candidate) => ledger.canTake(candidate, left));
  if (receiver !== undefined && left > 0n) ledger.moveLamports(address, receiver, left);
  if (back > 0n) ledger.moveLamports(address, giverOf(record), back);
  const isTaken = receiver !== undefined && left > 0n;
  ledger.tell({
    gasTo: isTaken ? receiver : NOBODY,
    gasLamports: isTaken ? Number(left) : 0,
    gasReturned: Number(back),
  });
}

export function settleExecution(ledger: Ledger, input: program.SettleExecutionInput, proof: Proof): void {
  const settings = config(ledger);
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  const listing = ledger.state('AgentListing', text(input.listing));
  const payout = text(input.payout);
  const relay = text(input.relayAuthority);
  demand(record.listing === text(input.listing), 'WrongListing');
  demand(record.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  const isBack = record.keyId !== NO_KEY && input.gasLamports < record.gasLamports;
  const isNamed = record.spenderBump !== 0 || isBack;
  demand(!isNamed || record.caller === text(input.caller), 'WrongAddress');
  demand(relaysOf(settings).includes(relay), 'NotRelayAuthority');
  demand(input.gasLamports <= record.gasLamports, 'GasAboveRecord');
  demand(record.status === 'open', 'ExecutionNotOpen');
  demand(receivesFor(ledger, payout, listing.creator), 'PayoutUnusable');
  demandSignature(proof, record.signingKey, result(input.resultHash));
  demand(ledger.now < record.refundAt, 'SettleWindowClosed');
  const escrow = escrowOf(input.executionId);
  const held = ledger.token(escrow).amount;
  const feeBps = frozenOrGone(ledger, TREASURY) ? 0 : record.feeBps;
  const fee = (record.price * BigInt(feeBps)) / 10_000n;
  // Dust goes to the treasury with the fee. If the treasury cannot receive, the creator gets everything.
  const toCreator = frozenOrGone(ledger, TREASURY) ? held : record.price - fee;
  if (toCreator > 0n) ledger.transfer(escrow, payout, toCreator, address);
  if (held > toCreator) ledger.transfer(escrow, TREASURY, held - toCreator, address);
  ledger.closeOurs(escrow, escrowLenderOf(record), address);
  const { executionTimeMs } = input;
  const resultHash = hex(input.resultHash);
  const changed = { status: 'completed', feeBps, resultHash, executionTimeMs, settledAt: ledger.now } as const;
  ledger.change('ExecutionRecord', address, changed);
  ledger.tell({
    creatorAmount: record.price - fee,
    platformAmount: fee,
    feeWaived: frozenOrGone(ledger, TREASURY),
    payout,
  });
  payGas(ledger, address, input.gasLamports, [relay]);
}

export function refundExecution(ledger: Ledger, input: program.RefundExecutionInput): void {
  const [authority, destination] = [text(input.authority), text(input.destination)];
  refund(ledger, input, (record, byRelay) => {
    demand(byRelay || ledger.now >= record.refundAt, 'RefundTooEarly');
    const associated = text(program.findTokenAccount(key(record.caller), key(config(ledger).usdcMint)));
    demand(authority === record.caller || destination === associated, 'WrongRefundDestination');
    demand(receivesFor(ledger, destination, record.caller), 'RefundDestinationUnusable');
    return destination;
  });
}

export function moveUnclaimedRefund(ledger: Ledger, input: program.MoveUnclaimedRefundInput): void {
  refund(ledger, input, (record) => {
    demand(ledger.now >= movableAt(record), 'MoveTooEarly');
    demandUndeliverable(ledger, record.caller, text(input.caller));
    return UNCLAIMED;
  });
  addLeaves(ledger, 1);
}

type Refund = Omit<program.RefundExecutionInput, 'destination'>;

/** Both refunds. `allow` has the checks of time and destination, and returns the account that gets the money. */
function refund(ledger: Ledger, input: Refund, allow: (record: ExecutionRecord, byRelay: boolean) => Address): void {
  const byRelay = relaysOf(config(ledger)).includes(text(input.authority));
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  ledger.state('CreatorCollateral', collateralOf(text(input.listing)));
  demand(record.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(record.listing === text(input.listing), 'ConstraintSeeds');
  const destination = allow(record, byRelay);
  demand(!byRelay || input.gasLamports <= record.gasLamports, 'GasAboveRecord');
  demand(record.keyId === NO_KEY || record.keyId === hex(input.keyId), 'WrongGrant');
  demand(record.status === 'open', 'ExecutionNotOpen');
  const escrow = escrowOf(input.executionId);
  const { amount } = ledger.token(escrow);
  const reason = byRelay ? input.reason : 'expired';
  ledger.tell({ amount, reason: program.REFUND_REASONS.indexOf(reason) });
  ledger.transfer(escrow, destination, amount, address);
  ledger.closeOurs(escrow, escrowLenderOf(record), address);
  endRefunded(ledger, input);
}

/** The time from which a refund can be moved: an hour after `refund_at`. */
export const movableAt = ({ refundAt }: ExecutionRecord): bigint => refundAt + 3_600n;

/** Ends the record, subtracts its price from grant and listing, and pays the gas. */
function endRefunded(ledger: Ledger, input: Refund): void {
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  const book = collateralOf(text(input.listing));
  const collateral = ledger.state('CreatorCollateral', book);
  const authority = text(input.authority);
  const byRelay = relaysOf(config(ledger)).includes(authority);
  const grantAddress = text(program.findGrant(input.caller, input.keyId));
  const byGrant = record.keyId !== NO_KEY;
  ledger.change('ExecutionRecord', address, { status: 'refunded', settledAt: ledger.now });
  const grant = byGrant ? ledger.find('KeyGrant', grantAddress) : null;
  const restored = grant && restore(grant, record.price, record.openedAt);
  if (restored) ledger.change('KeyGrant', grantAddress, restored);
  const { totalSpent = 0n, periodSpent = 0n } = restored ?? {};
  ledger.tell({ grantRestored: Boolean(restored), grantTotalSpent: totalSpent, grantPeriodSpent: periodSpent });
  if (record.openedAt >= collateral.exposureWindowStart) {
    const left = collateral.exposureOpened - record.price;
    ledger.change('CreatorCollateral', book, { exposureOpened: left > 0n ? left : 0n });
  }
  const gasBalance = byGrant ? [text(program.findSpender(input.caller))] : [];
  const caller = byGrant && authority === record.caller ? [authority] : [];
  const taken = byRelay ? input.gasLamports : record.gasLamports;
  payGas(ledger, address, taken, [...(byRelay ? [authority] : []), ...gasBalance, ...caller]);
}

/** The time from which a record can be closed without an archive; null if it has not ended. */
export function closableAt(record: ExecutionRecord): bigint | null {
  const { status, openedAt, settledAt, disputeWindowSeconds } = record;
  if (status === 'open') return null;
  return status === 'refunded' ? openedAt + 3_600n : settledAt + BigInt(disputeWindowSeconds) + YEAR;
}

export function closeExecution(ledger: Ledger, input: program.CloseExecutionInput): void {
  const address = recordOf(input.executionId);
  const record = ledger.state('ExecutionRecord', address);
  demand(record.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  const from = closableAt(record);
  demand(from !== null, 'ExecutionNotEnded');
  demand(ledger.now >= from, 'CloseTooEarly');
  ledger.close(address, record.rentSponsor);
}
