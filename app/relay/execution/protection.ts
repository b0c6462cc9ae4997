/**
 * What a call may cost the operator: the ways in which it can be paid for, and what it is told where none is left. Gas and
 * rent come from the wallet's tank wherever the operator's budgets do not, so that nobody burns or locks more than the
 * operator chose to give.
 */
import { findSpender, parseAddress } from '../../sdk/program/program.ts';
import { LAMPORTS_PER_SIGNATURE } from '../chain/networkFee.ts';
import type { Rents } from '../chain/rent.ts';
import { ApiError } from '../errors.ts';
import { type Budgets, burnableBy, type Held, opensAllowed, type Sums, type Way } from '../ledger/funding.ts';

/** When a wallet that burnt too much may ask again: what was burnt leaves the day little by little. */
const RETRY_BURNT_SECONDS = 900;
const RETRY_OPEN_SECONDS = 10;

/** What a call's transactions cost, and what there is to pay it, lamports. */
export interface Means {
  /** Fees of open and settle as priority stands now. */
  fees: bigint;
  /** Most gas that the key's grant allows for one execution. */
  maxGas: bigint;
  rents: Rents;
  tank: bigint;
}

/** The two signatures that every call pays. */
const LEAST_FEES = 2n * LAMPORTS_PER_SIGNATURE;

/**
 * The most that a call burns before its refund is signed, by what there is for its fees. A settle may fail, because the
 * creator's account is turned off under it, and so may the refund that follows, by the caller's: each is an end, which
 * has all but the signature of the open. And where neither lands before strangers may refund, these give away the gas
 * that was to pay for the open; what the operator gives for that is given already.
 */
function mostBurnt({ gas, house }: Pick<Way, 'gas' | 'house'>): bigint {
  const end = gas + house - LAMPORTS_PER_SIGNATURE;
  return 2n * end + (house > 0n ? 0n : LAMPORTS_PER_SIGNATURE);
}

/** What pays for a call, with what is held against its wallet for it. Who sponsors everybody has no strangers. */
export function heldFor(paid: Pick<Way, 'gas' | 'house'>, sponsorsAll: boolean) {
  return { ...paid, mayBurn: sponsorsAll ? 0n : mostBurnt(paid) };
}

/** Whether the tank can give so much and is left empty or rent-exempt, whichever of the opens land that `held` is for. */
function tankHas({ tank, rents }: Pick<Means, 'tank' | 'rents'>, lamports: bigint, held = 0n): boolean {
  const left = tank - held - lamports;
  return left >= rents.empty || (left === 0n && held === 0n);
}

/** What the call takes out of the tank where the operator gives nothing: gas as far as the key allows it. */
const gasOf = ({ fees, maxGas }: Pick<Means, 'fees' | 'maxGas'>) => (fees < maxGas ? fees : maxGas);

/** The most that the call takes out of the tank: its gas, and with `ownRent` its rent, lamports. */
function mostFromTank(means: Omit<Means, 'tank'>, ownRent: boolean): bigint {
  return gasOf(means) + (ownRent ? means.rents.record + means.rents.escrow : 0n);
}

/**
 * The ways that the tank can bear, the best for the caller first, the last being those in which it lends the rent itself;
 * the ledger takes the first within its budgets for which nobody else has been promised the tank's lamports.
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
  // Who sponsors everybody still takes what is there; else the first calls of a wallet are a present.
  return sponsorsAll ? [...ways, ...house] : [...house, ...ways];
}

/**
 * What a call that is paid for by `paid`, with `passing` others like it beside it, finds in its way: nothing, calls before
 * it, or a refusal.
 */
export function obstacleOf(
  sums: Sums,
  budgets: Budgets,
  { gas, house, mayBurn }: Pick<Way, 'gas' | 'house' | 'mayBurn'>,
  passing = 0n,
): 'wait' | ApiError | null {
  if (budgets.openExecutions > 0 && sums.open_now >= BigInt(budgets.openExecutions)) {
    return tooManyOpen(budgets.openExecutions);
  }
  const isProven = sums.is_proven === 1n;
  const burnable = burnableBy(budgets, isProven);
  const lamports = isProven || mayBurn < gas + house ? gas + house : mayBurn;
  const burntBy: [who: string, burnt: bigint, atRisk: bigint, most: bigint][] = [
    ["The wallet's calls", sums.burnt_wallet, sums.risk_wallet, burnable.wallet],
    ["The agent's calls", sums.burnt_listing, sums.risk_listing, burnable.listing],
    ['Calls that failed', sums.burnt_total, sums.risk_total, burnable.total],
  ];
  for (const [who, lost, , most] of burntBy) if (lost + lamports > most) return burntTooMuch(who, lost);
  if (!budgets.sponsorsAll && sums.in_flight + passing >= opensAllowed(sums.paid)) return 'wait';
  const isNearLimit = burntBy.some(([, lost, atRisk, most]) => lost + atRisk + lamports * (passing + 1n) > most);
  return isNearLimit ? 'wait' : null;
}

function burntTooMuch(who: string, lost: bigint): ApiError {
  const message = `${who} have cost the marketplace ${lost} lamports in network fees that nobody paid, within a day`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_BURNT_SECONDS });
}

function tooManyOpen(limit: number): ApiError {
  const message = `The wallet has ${limit} executions open, as many as it may have at once`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_OPEN_SECONDS });
}

/** Whether the budgets have room for one more call's rent. */
function lendsRent(rents: Rents, sums: Sums, lent: Budgets['lent']): boolean {
  const rent = rents.record + rents.escrow;
  const { lent_wallet, lent_listing, lent_total } = sums;
  return lent_wallet + rent <= lent.wallet && lent_listing + rent <= lent.listing && lent_total + rent <= lent.total;
}

/**
 * What stands in the way of a call that the budgets for fees have room for: `passed`, calls that may have ended since,
 * `tank`, calls that hold what it needs of the tank, or null, nothing but what is missing.
 */
export function whatHolds(
  ways: readonly Way[],
  means: Means,
  sums: Sums & Held,
  budgets: Budgets,
): 'passed' | 'tank' | null {
  const { sponsorsAll, trial } = budgets;
  const isLent = sponsorsAll || lendsRent(means.rents, sums, budgets.lent);
  const isGiven = (house: bigint) =>
    house === 0n || sponsorsAll || (sums.trials < BigInt(trial.calls) && sums.given + house <= trial.lamportsPerDay);
  const within = ways.filter((way) => (way.recordRent === 0n || isLent) && isGiven(way.house));
  if (within.some(({ tank }) => tank === 0n || tankHas(means, tank, sums.held_tank))) return 'passed';
  return within.length > 0 ? 'tank' : null;
}

/** 402 for a wallet whose tank does not bear what the budgets leave to it. */
export function gasShortage(wallet: string, means: Means, sums: Sums & Held, { lent }: Budgets): ApiError {
  const tank = findSpender(parseAddress(wallet)).toBase58();
  const fail = (have: bigint, need: bigint, message: string) =>
    new ApiError('insufficient_balance', message, {
      details: { limit: 'gas', wallet, tank, have_lamports: Number(have), need_lamports: Number(need) },
    });
  if (means.maxGas < LEAST_FEES) {
    const message = `The API key of wallet ${wallet} allows ${means.maxGas} lamports of gas per execution; this call needs ${LEAST_FEES}`;
    return fail(means.maxGas, LEAST_FEES, message);
  }
  const { rents } = means;
  const isLent = lendsRent(rents, sums, lent);
  const need = mostFromTank(means, !isLent) + rents.empty;
  const left = means.tank - sums.held_tank;
  const have = left > 0n ? left : 0n;
  const parts = isLent ? 'gas' : 'gas and rent';
  const message = `The tank ${tank} of wallet ${wallet} has ${have} lamports left for ${parts}; this call needs ${need}`;
  return fail(have, need, message);
}
