/**
 * Limits reads of the chain for strangers: keys, starts, tests, sign-in and pages. The budget is separate, so that
 * strangers cannot use up the node's quota for settling money. Each wallet with a live key has a budget of its own, so
 * that strangers cannot use up the reads of its requests either. A key's deposit comes back, so wallets that have never
 * paid also share one budget: many of them together read no more than strangers do.
 */
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';
import type { Payers } from '../ledger/payers.ts';

/** Reads are counted over so many seconds. All of them may come at once. */
const COUNTED_SECONDS = 5;
/** So many wallets that have never paid use up what they share, not a single one. */
const SHARES = 4;
/** What strangers share, and wallets that have never paid. No wallet has such an address. */
const [STRANGERS, UNPAID] = ['strangers', 'unpaid'];

/**
 * Takes one read out of the budget of a wallet with a live key, or of that of strangers. Rejects with ApiError 503 and
 * the time until it is full again, if it is used up.
 */
export type TakeReading = (wallet?: string) => Promise<void>;

export function createEdgeBudget(perSecond: number, { hasPaid }: Pick<Payers, 'hasPaid'>): TakeReading {
  const take = createBudgets(perSecond);
  const takeShare = createBudgets(perSecond / SHARES);
  return async (wallet = STRANGERS) => {
    if (wallet === STRANGERS || (await hasPaid(wallet))) return take(wallet);
    await takeShare(wallet);
    await take(UNPAID);
  };
}

/** A budget for each name. Takes a read out of one, or rejects as above. */
export function createBudgets(perSecond: number): (name: string) => Promise<void> {
  const counter = new RateLimiterMemory({ points: Math.ceil(perSecond * COUNTED_SECONDS), duration: COUNTED_SECONDS });
  return async (name) => {
    await counter.consume(name).catch(({ msBeforeNext }: RateLimiterRes) => {
      throw new ApiError('service_unavailable', 'Too many unpaid requests are reading the chain. Retry later.', {
        retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1_000)),
      });
    });
  };
}
