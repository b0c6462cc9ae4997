/**
 * How often strangers may have the chain read: for keys that are registered, wallets that sign in, pages and probes. It is
 * a budget of its own, so that nothing they do takes the node's quota from what settles money.
 */
import { ApiError } from '../errors.ts';

/** Readings that may come at once after a quiet time, in seconds' worth of the rate. */
const BURST_SECONDS = 5;

/** Takes one reading out of the budget. Throws ApiError 503 where it is used up, with the time until there is one more. */
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
      throw new ApiError('service_unavailable', 'The chain is read too often for requests that pay nothing', {
        retryAfterSeconds,
      });
    }
    left -= 1;
  };
}
