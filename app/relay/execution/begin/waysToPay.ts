/**
 * Who pays what for a call: the ways to pay for it, and why none of them is possible now. Each refusal names its rule,
 * the figures, and when they change.
 */
import { findSpender, parseAddress } from '../../../sdk/program/program.ts';
import { FIRST_GAS } from '../../../sdk/wallet/usualAmounts.ts';
import { greatest, least } from '../../../sdk/wire/amounts.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import type { Rents } from '../../chain/rent.ts';
import { ApiError, retryLater } from '../../errors.ts';
import {
  FIRST_OPENS_OF_LISTING,
  type Kind,
  type Lending,
  LISTING_LOSS_MS,
  MOST_LISTING_LOSS,
  opensAllowed,
  shareOf,
  tryAfterMs,
  type Way,
} from '../../ledger/funding.ts';
import type { Held, Sums } from '../../ledger/sums.ts';

/** Retry delay while the rent of calls in progress is lent: it comes back when the calls end. */
const RETRY_SECONDS = 5;
/** Least retry delay while no rent can be lent; also while all of it belongs to calls in progress. */
const RETRY_LENT_SECONDS = 60;

/** The cost of a call's transactions, and the money to pay it, lamports. */
export interface Means {
  /** Network fee of the open. */
  fee: bigint;
  /** Network fee of the end, and the share of the archive. */
  gas: bigint;
  /** Maximum fee and gas that the key's grant allows for one execution. */
  maxGas: bigint;
  rents: Rents;
  gasBalance: bigint;
}

/**
 * The ways to pay, best for the caller first. The gas balance pays the network fees, repays what the wallet owes, and
 * lends the escrow's rent. The operator lends the record's; if it cannot, the gas balance does. With SPONSOR=all the
 * operator pays for a wallet without gas.
 */
export function waysToPay(
  { fee, gas, maxGas, rents }: Means,
  { sponsorsAll }: Pick<Lending, 'sponsorsAll'>,
  owed = 0n,
): Way[] {
  const spare = maxGas - fee - gas;
  const repaid = sponsorsAll || spare < 0n ? 0n : least(owed, spare);
  const own = { fee: fee + repaid, repaid, gas, escrowRent: 0n };
  const gasBalance = fee + repaid + gas + rents.escrow;
  const ways: Way[] = [];
  if (spare >= 0n) ways.push({ ...own, recordRent: rents.record, gasBalance });
  if (sponsorsAll) {
    ways.push({ fee: 0n, repaid: 0n, gas: 0n, recordRent: rents.record, escrowRent: rents.escrow, gasBalance: 0n });
  }
  if (spare >= 0n) ways.push({ ...own, recordRent: 0n, gasBalance: gasBalance + rents.record });
  return ways;
}

/**
 * True if the gas balance has this amount. It must end empty or rent-exempt, whichever of the opens in `held` land.
 */
function gasBalanceHas(
  { gasBalance, rents }: Pick<Means, 'gasBalance' | 'rents'>,
  lamports: bigint,
  { held_gas_balance: held }: Pick<Held, 'held_gas_balance'> = { held_gas_balance: 0n },
): boolean {
  const left = gasBalance - held - lamports;
  return lamports === 0n || left >= rents.empty || (left === 0n && held === 0n);
}

/**
 * Finds what blocks a call of this wallet, in addition to `passing` calls like it: null, a refusal, or the opens of the
 * wallet or of the listing that must be final first, with their maximum.
 */
export function obstacleOf(
  sums: Sums,
  { sponsorsAll }: Pick<Lending, 'sponsorsAll'>,
  passing = 0n,
): { opens: bigint } | ApiError | null {
  if (sponsorsAll) return null;
  if (sums.listing_lost > MOST_LISTING_LOSS) return unstableListing(sums);
  if (sums.owed > 0n) {
    if (sums.owed_ms + tryAfterMs(sums.owed) > sums.now_ms) return stillOwes(sums);
    if (sums.in_flight + sums.repaying + passing > 0n) return { opens: 1n };
  }
  const ofWallet = opensAllowed(sums.completed);
  if (sums.in_flight + passing >= ofWallet) return { opens: ofWallet };
  const ofListing = opensAllowed(sums.listing_completed, FIRST_OPENS_OF_LISTING);
  return sums.listing_in_flight >= ofListing ? { opens: ofListing } : null;
}

const secondsUntil = (ms: bigint, nowMs: bigint): number => Number(ms - nowMs) / 1_000;

const unavailable = (message: string, retryAfterSeconds: number): ApiError =>
  retryLater(`${message} Nothing was charged.`, retryAfterSeconds);

function unstableListing({ listing_lost: lost, listing_lost_ms: since, now_ms: now }: Sums): ApiError {
  const message = `Changes of this agent's listing or payout account during calls, or its exposure limit, have cost the marketplace ${lost} lamports of network fees within an hour, more than ${MOST_LISTING_LOSS}.`;
  return unavailable(message, secondsUntil(since + LISTING_LOSS_MS, now));
}

function stillOwes({ owed, owed_ms: since, now_ms: now }: Sums): ApiError {
  const message = `The wallet owes ${owed} lamports of network fees of calls that failed on the chain. Its next call repays them; until then it may try once in ${tryAfterMs(owed) / 60_000n} minutes.`;
  return unavailable(message, secondsUntil(since + tryAfterMs(owed), now));
}

/** What is lent, and when the oldest of it ended. */
export interface Loans {
  sums: Sums;
  lending: Pick<Lending, 'limit' | 'returnSeconds'>;
  /** `Journal.lentSince`. */
  lentSince(kind: Kind | null): Promise<bigint | null>;
  /** The chain's clock, unix seconds. */
  now: bigint;
}

const LENT = { keys: 'lent_keys', x402: 'lent_x402' } as const;
const BORROWERS = { keys: 'calls with keys', x402: 'x402 clients' } as const;

/** True if the operator may lend the rent of this way. */
function isLent(way: Way, sums: Sums, { limit }: Pick<Lending, 'limit'>, kind: Kind): boolean {
  const rent = way.recordRent + way.escrowRent;
  if (rent === 0n) return true;
  const total = limit();
  return sums[LENT[kind]] + rent <= shareOf(total) && sums.lent_keys + sums.lent_x402 + rent <= total;
}

/** The 503 for a call whose rent the operator cannot lend now; null if it can. */
export async function lentShortage(way: Way, kind: Kind, loans: Loans, besides = ''): Promise<ApiError | null> {
  const { sums, lending, lentSince, now } = loans;
  if (isLent(way, sums, lending, kind)) return null;
  const total = lending.limit();
  const rent = way.recordRent + way.escrowRent;
  const ofKind = sums[LENT[kind]] + rent > shareOf(total);
  const [lent, most, whom] = ofKind
    ? [sums[LENT[kind]], shareOf(total), BORROWERS[kind]]
    : [sums.lent_keys + sums.lent_x402, total, 'all calls'];
  // If the share is used up, only a deposit of the same kind makes room.
  const since = await lentSince(ofKind ? kind : null);
  const back = since === null ? 0 : Number(since - now) + lending.returnSeconds();
  const message = `The marketplace lends refundable deposits of at most ${greatest(most, 0n)} lamports to ${whom} at a time. It has lent ${lent}, and this call needs ${rent}.${besides}`;
  return unavailable(message, Math.max(RETRY_LENT_SECONDS, back));
}

/**
 * Finds what blocks a call that may open: `passed`: nothing any more. `gasBalance`: earlier calls reserve the gas balance that
 * it needs, or it lends their escrows. `lent`: the operator can lend no more, and the gas balance cannot lend it either.
 * `gas`: the gas balance is too low.
 */
export function whatHolds(
  ways: readonly Way[],
  means: Means,
  sums: Sums & Held,
  lending: Lending,
): 'passed' | 'gasBalance' | 'lent' | 'gas' {
  const lent = ways.filter((way) => isLent(way, sums, lending, 'keys'));
  if (lent.some(({ gasBalance }) => gasBalanceHas(means, gasBalance, sums))) return 'passed';
  const whole = means.gasBalance + sums.gas_balance_escrows * means.rents.escrow;
  if (lent.some(({ gasBalance }) => gasBalanceHas({ ...means, gasBalance: whole }, gasBalance))) return 'gasBalance';
  return ways.some(({ gasBalance }) => gasBalanceHas(means, gasBalance)) ? 'lent' : 'gas';
}

/** The 503 for a call that only needs gas of the wallet's earlier calls. */
export function gasBalanceBusy(wallet: string, means: Means, sums: Sums & Held, need: bigint): ApiError {
  const left = leftIn(means, sums);
  const message = `The gas balance of wallet ${wallet} has ${left} lamports left, and this call needs ${need + means.rents.empty}. It gets back the refundable deposits of the wallet's calls in progress when they end. Send SOL to ${gasBalanceOf(wallet)} for more calls at the same time.`;
  return unavailable(message, RETRY_SECONDS);
}

/** The 503 for a call whose deposit neither the operator nor the gas balance can lend. */
export async function cannotLend(
  [way, ...others]: readonly Way[],
  wallet: string,
  means: Means,
  { sums, ...loans }: Loans & { sums: Sums & Held },
): Promise<ApiError> {
  const need = (others.at(-1)?.gasBalance ?? 0n) + means.rents.empty;
  const besides = ` The gas balance of wallet ${wallet} could lend it instead: it has ${leftIn(means, sums)} lamports left and needs ${need}. Send SOL to ${gasBalanceOf(wallet)}, or wait.`;
  const shortage = await lentShortage(way!, 'keys', { ...loans, sums }, besides);
  return shortage ?? gasBalanceBusy(wallet, means, sums, way!.gasBalance);
}

const gasBalanceOf = (wallet: string): string => findSpender(parseAddress(wallet)).toBase58();

function leftIn(
  { gasBalance }: Pick<Means, 'gasBalance'>,
  { held_gas_balance: held }: Pick<Held, 'held_gas_balance'>,
): bigint {
  return greatest(gasBalance - held, 0n);
}

/** The 402 for a gas balance, or a key's gas limit, that cannot pay for a call. */
export function gasShortage(wallet: string, means: Means, sums: Sums & Held): ApiError {
  const gasBalance = gasBalanceOf(wallet);
  const { fee, gas, maxGas, rents } = means;
  const fail = (have: bigint, need: bigint, message: string) =>
    new ApiError('insufficient_balance', message, {
      details: {
        limit: 'gas',
        wallet,
        gas_balance_address: gasBalance,
        have_lamports: Number(have),
        need_lamports: Number(need),
      },
    });
  const owed = greatest(sums.owed, 0n);
  const leastFees = fee + gas + (owed > 0n ? 1n : 0n);
  if (maxGas < leastFees) {
    const message = `The API key of wallet ${wallet} allows ${maxGas} lamports of gas per call; this call needs ${leastFees}. Create a key with a higher gas limit.`;
    return fail(maxGas, leastFees, message);
  }
  const fees = fee + gas + least(owed, maxGas - fee - gas);
  const need = fees + rents.escrow + rents.empty;
  const have = leftIn(means, sums);
  const later = (have + FIRST_GAS - rents.escrow - rents.empty) / (fee + gas);
  const message = `The gas balance of wallet ${wallet} has ${have} lamports left, enough for no call. This call needs ${need}: ${fees} for network fees, ${rents.escrow} as a refundable deposit until it ends, and ${rents.empty} that must stay. Send SOL to ${gasBalance}; with ${formatSol(FIRST_GAS)} SOL more it is enough for ${later} calls.`;
  return fail(have, need, message);
}
