/**
 * Limits reads of the chain for strangers: key registration, sign-in, pages and probes. The budget is separate, so that
 * strangers cannot use up the node's quota for settling money.
 */
import { ApiError } from '../errors.ts';

/** Reads allowed at once after a quiet time, in seconds of the rate. */
const BURST_SECONDS = 5;

/**
 * Takes one read out of the budget. Throws ApiError 503 with the time until the next read, if the budget is used up.
 */
export type TakeReading = () => void;

export function createEdgeBudget(perSecond: number, now: () => number = () => performance.now()): TakeReading {
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
