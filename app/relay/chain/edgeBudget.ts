/**
 * Limits reads of the chain for strangers: keys, starts, tests, sign-in and pages. The budget is separate, so that
 * strangers cannot use up the node's quota for settling money. Each wallet with a live key has a budget of its own, so
 * that strangers cannot use up the reads of its requests either. A key's deposit comes back, so wallets that have never
 * paid also share one budget: many of them together read no more than strangers do.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';
import type { Payers } from '../ledger/payers.ts';

/** Reads allowed at once after a quiet time, in seconds of the rate. */
const BURST_SECONDS = 5;
/** Wallets whose budgets are kept; one that is forgotten is full again. */
const MAX_WALLETS = 10_000;
/** So many wallets that have never paid use up what they share, not a single one. */
const SHARES = 4;

/**
 * Takes one read out of the budget of a wallet with a live key, or of that of strangers. Rejects with ApiError 503 and
 * the time until the next read, if the budget is used up.
 */
export type TakeReading = (wallet?: string) => Promise<void>;

export function createEdgeBudget(
  perSecond: number,
  { hasPaid }: Pick<Payers, 'hasPaid'>,
  now: () => number = () => performance.now(),
): TakeReading {
  const ofStrangers = createBudget(perSecond, now);
  const ofUnpaid = createBudget(perSecond, now);
  const ofEachPaying = createBudgets(perSecond, now);
  const ofEachUnpaid = createBudgets(perSecond / SHARES, now);
  return async (wallet) => {
    if (wallet === undefined) {
      ofStrangers();
    } else if (await hasPaid(wallet)) {
      ofEachPaying(wallet);
    } else {
      ofEachUnpaid(wallet);
      ofUnpaid();
    }
  };
}

/** A budget for each wallet. */
function createBudgets(perSecond: number, now: () => number): (wallet: string) => void {
  const budgets = new LRUCache<string, () => void>({ max: MAX_WALLETS });
  return (wallet) => {
    const take = budgets.get(wallet) ?? createBudget(perSecond, now);
    budgets.set(wallet, take);
    take();
  };
}

/** One budget. Takes a read out of it, or throws as above. */
export function createBudget(perSecond: number, now: () => number = () => performance.now()): () => void {
  const most = perSecond * BURST_SECONDS;
  let left = most;
  let countedAt = now();
  return () => {
    const at = now();
    left = Math.min(most, left + ((at - countedAt) * perSecond) / 1_000);
    countedAt = at;
    if (left < 1) {
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - left) / perSecond));
      throw new ApiError('service_unavailable', 'Too many unpaid requests are reading the chain. Retry later.', {
        retryAfterSeconds,
      });
    }
    left -= 1;
  };
}
