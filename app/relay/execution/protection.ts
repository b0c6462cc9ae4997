/**
 * Limits the operator's cost of a call: finds the ways to pay for it, or the refusal if there is none. The wallet's gas
 * balance pays the gas and rent that the operator's budgets do not cover.
 */
import { findSpender, parseAddress } from '../../sdk/program/program.ts';
import { LAMPORTS_PER_SIGNATURE } from '../chain/networkFee.ts';
import type { Rents } from '../chain/rent.ts';
import { ApiError } from '../errors.ts';
import { type Budgets, burnableBy, type Held, opensAllowed, type Sums, type Way } from '../ledger/funding.ts';

/** Retry delay for a wallet that burnt too much. Burnt amounts leave the 24-hour sum gradually. */
const RETRY_BURNT_SECONDS = 900;
const RETRY_OPEN_SECONDS = 10;
/** Retry delay while no more rent can be lent. An escrow's returns within seconds, a record's days after its end. */
const RETRY_LENT_SECONDS = 60;

/** The cost of a call's transactions, and the money to pay it, lamports. */
export interface Means {
  /** Fees of open and settle at the current priority. */
  fees: bigint;
  /** Maximum gas that the key's grant allows for one execution. */
  maxGas: bigint;
  rents: Rents;
  tank: bigint;
}

/** The two signatures that every call pays for. */
const LEAST_FEES = 2n * LAMPORTS_PER_SIGNATURE;

/**
 * The maximum that a call burns before its refund is signed. A settle can fail because the creator's account is
 * unusable, and the refund because the caller's is. Each of these can spend everything except the signature of the
 * open. If neither lands before strangers may refund, a stranger's refund gives away the gas meant for the open. The
 * operator's own share is already counted as given.
 */
function mostBurnt({ gas, house }: Pick<Way, 'gas' | 'house'>): bigint {
  const end = gas + house - LAMPORTS_PER_SIGNATURE;
  return 2n * end + (house > 0n ? 0n : LAMPORTS_PER_SIGNATURE);
}

/**
 * The payment of a call, with the amount reserved for its wallet's losses. With SPONSOR=all there is no such reserve.
 */
export function heldFor(paid: Pick<Way, 'gas' | 'house'>, sponsorsAll: boolean) {
  return { ...paid, mayBurn: sponsorsAll ? 0n : mostBurnt(paid) };
}

/**
 * True if the gas balance has this amount. The balance must end empty or rent-exempt, whichever of the opens in `held`
 * land.
 */
function tankHas({ tank, rents }: Pick<Means, 'tank' | 'rents'>, lamports: bigint, held = 0n): boolean {
  const left = tank - held - lamports;
  return left >= rents.empty || (left === 0n && held === 0n);
}

/** Gas that a call takes from the gas balance if the operator gives nothing, limited by the key. */
const gasOf = ({ fees, maxGas }: Pick<Means, 'fees' | 'maxGas'>) => (fees < maxGas ? fees : maxGas);

/** The maximum that a call takes from the gas balance: its gas, and with `ownRent` its rent, lamports. */
function mostFromTank(means: Pick<Means, 'fees' | 'maxGas' | 'rents'>, ownRent: boolean): bigint {
  return gasOf(means) + (ownRent ? means.rents.record + means.rents.escrow : 0n);
}

/**
 * The ways to pay, best for the caller first. For each payer of the fees, the operator lends the rent, or else the gas
 * balance does. The ledger takes the first way within its budgets whose lamports are not reserved for another call.
 */
export function waysToPay(means: Means, { sponsorsAll }: Pick<Budgets, 'sponsorsAll'>): Way[] {
  const { rents } = means;
  const gas = gasOf(means);
  const lent = { recordRent: rents.record, escrowRent: rents.escrow };
  const own = { recordRent: 0n, escrowRent: 0n };
  const onHouse = heldFor({ gas: 0n, house: means.fees }, sponsorsAll);
  const byTank = heldFor({ gas, house: 0n }, sponsorsAll);
  const ways: Way[] = [];
  const ownRent = rents.record + rents.escrow;
  const house: Way[] = [{ ...onHouse, ...lent, tank: 0n }];
  if (tankHas(means, ownRent)) house.push({ ...onHouse, ...own, tank: ownRent });
  if (gas >= LEAST_FEES) {
    if (tankHas(means, gas)) ways.push({ ...byTank, ...lent, tank: gas });
    if (tankHas(means, gas + ownRent)) ways.push({ ...byTank, ...own, tank: gas + ownRent });
  }
  // With SPONSOR=all the gas balance still pays first. Otherwise the operator gives a wallet its first calls.
  return sponsorsAll ? [...ways, ...house] : [...house, ...ways];
}

/**
 * Finds what blocks a call with these costs, in addition to `passing` calls like it: null, a refusal, or a reason to
 * wait. `opens`: the wallet's opens in flight, which land within seconds. `risk`: earlier calls that may still burn
 * their fees, which end when their agents have answered.
 */
export function obstacleOf(
  sums: Sums,
  budgets: Budgets,
  { gas, house, mayBurn }: Pick<Way, 'gas' | 'house' | 'mayBurn'>,
  passing = 0n,
): 'opens' | 'risk' | ApiError | null {
  if (budgets.openExecutions > 0 && sums.open_now >= BigInt(budgets.openExecutions)) {
    return tooManyOpen(budgets.openExecutions);
  }
  const isProven = sums.is_proven === 1n;
  const burnable = burnableBy(budgets, isProven);
  const lamports = isProven || mayBurn < gas + house ? gas + house : mayBurn;
  const burntBy: [who: string, burnt: bigint, atRisk: bigint, most: bigint][] = [
    ['Calls of this wallet', sums.burnt_wallet, sums.risk_wallet, burnable.wallet],
    ['Calls of this agent', sums.burnt_listing, sums.risk_listing, burnable.listing],
    ['Failed calls', sums.burnt_total, sums.risk_total, burnable.total],
  ];
  for (const [who, lost, , most] of burntBy) if (lost + lamports > most) return burntTooMuch(who, lost);
  if (!budgets.sponsorsAll && sums.in_flight + passing >= opensAllowed(sums.paid)) return 'opens';
  const isNearLimit = burntBy.some(([, lost, atRisk, most]) => lost + atRisk + lamports * (passing + 1n) > most);
  return isNearLimit ? 'risk' : null;
}

function burntTooMuch(who: string, lost: bigint): ApiError {
  const message = `${who} have cost the marketplace ${lost} lamports of unpaid network fees in 24 hours. Nothing was charged. Retry later.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_BURNT_SECONDS });
}

function tooManyOpen(limit: number): ApiError {
  const message = `The wallet has ${limit} open executions, the maximum. Nothing was charged. Retry when one has ended.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_OPEN_SECONDS });
}

/** Message why the budgets lend no rent for one more call; null if they lend it. */
function whyNotLent(rents: Pick<Rents, 'record' | 'escrow'>, sums: Sums, budgets: Budgets): string | null {
  const { lent, waiting, sponsorsAll } = budgets;
  if (sponsorsAll) return null;
  const rent = rents.record + rents.escrow;
  const inAll = '; one more call would exceed the limit for';
  if (sums.waits === 1n)
    return 'The marketplace lends no refundable deposits to a wallet whose USDC account cannot receive a refund';
  if (sums.is_proven === 0n && sums.lent_waiting > waiting) {
    return 'Refunds that callers cannot receive yet lock the refundable deposits that the marketplace lends to new wallets';
  }
  if (sums.lent_wallet + rent > lent.wallet) {
    return `Calls of this wallet hold ${sums.lent_wallet} lamports of refundable deposits lent by the marketplace${inAll} a wallet`;
  }
  if (sums.lent_listing + rent > lent.listing) {
    return `Calls of this agent hold ${sums.lent_listing} lamports of refundable deposits lent by the marketplace${inAll} an agent`;
  }
  if (sums.lent_total + rent > lent.total)
    return `Calls hold ${sums.lent_total} lamports of refundable deposits lent by the marketplace${inAll} all calls`;
  return null;
}

/** The 503 for a call whose rent only the budgets could lend; null if they lend it. */
export function rentShortage(
  { recordRent: record, escrowRent: escrow }: Pick<Way, 'recordRent' | 'escrowRent'>,
  sums: Sums,
  budgets: Budgets,
): ApiError | null {
  const reason = whyNotLent({ record, escrow }, sums, budgets);
  if (reason === null) return null;
  const message = `${reason}. Nothing was paid. Retry later.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_LENT_SECONDS });
}

/**
 * Finds what blocks a call that the fee budgets allow. `passed`: earlier calls that may have ended by now. `tank`:
 * earlier calls reserve the gas balance that it needs. null: the wallet itself lacks the lamports.
 */
export function whatHolds(
  ways: readonly Way[],
  means: Means,
  sums: Sums & Held,
  budgets: Budgets,
): 'passed' | 'tank' | null {
  const { sponsorsAll, trial } = budgets;
  const isLent = whyNotLent(means.rents, sums, budgets) === null;
  const isGiven = (house: bigint) =>
    house === 0n || sponsorsAll || (sums.trials < BigInt(trial.calls) && sums.given + house <= trial.lamportsPerDay);
  const within = ways.filter((way) => (way.recordRent === 0n || isLent) && isGiven(way.house));
  if (within.some(({ tank }) => tank === 0n || tankHas(means, tank, sums.held_tank))) return 'passed';
  return within.length > 0 ? 'tank' : null;
}

/** The 402 for a gas balance that cannot pay the part that the budgets leave to it. */
export function gasShortage(wallet: string, means: Means, sums: Sums & Held, budgets: Budgets): ApiError {
  const tank = findSpender(parseAddress(wallet)).toBase58();
  const fail = (have: bigint, need: bigint, message: string) =>
    new ApiError('insufficient_balance', message, {
      details: { limit: 'gas', wallet, tank, have_lamports: Number(have), need_lamports: Number(need) },
    });
  if (means.maxGas < LEAST_FEES) {
    const message = `The API key of wallet ${wallet} allows ${means.maxGas} lamports of gas per execution; this call needs ${LEAST_FEES}. Create a key with a higher gas limit.`;
    return fail(means.maxGas, LEAST_FEES, message);
  }
  const { rents } = means;
  const isLent = whyNotLent(rents, sums, budgets) === null;
  const need = mostFromTank(means, !isLent) + rents.empty;
  const left = means.tank - sums.held_tank;
  const have = left > 0n ? left : 0n;
  const parts = isLent ? 'gas' : 'fees and refundable deposits';
  const message = `The gas balance of wallet ${wallet} has ${have} lamports left for ${parts}; this call needs ${need}. Send SOL to ${tank}.`;
  return fail(have, need, message);
}
