/**
 * Limits the payments of one network that cost the operator fees and then do not arrive. A limit per wallet is useless,
 * because wallets are free.
 */
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../../errors.ts';
import type { Limits } from '../../ledger/limits.ts';

/** An unpaid deposit costs the operator three fees, some 20,000 lamports. */
const MOST_UNPAID = 10;
const WITHIN_SECONDS = 600;

export interface UnpaidLimit {
  /** Runs one payment of a network. Throws ApiError 503 if too many did not arrive. */
  limit<Value>(network: string, pay: () => Promise<Value>): Promise<Value>;
}

export function createUnpaidLimit(limits: Limits): UnpaidLimit {
  const counter = limits.counter('x402_unpaid', { points: MOST_UNPAID, duration: WITHIN_SECONDS });
  return {
    async limit(network, pay) {
      const left = await counter.get(network);
      if (left !== null && left.remainingPoints <= 0) throw tooMany(left);
      try {
        return await pay();
      } catch (error) {
        const wasPrepared =
          error instanceof ApiError && error.code === 'payment_required' && error.executionId !== null;
        if (wasPrepared) await counter.consume(network).catch(() => undefined);
        throw error;
      }
    },
  };
}

function tooMany({ msBeforeNext }: RateLimiterRes): ApiError {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  const message = `${MOST_UNPAID} payments from this IP address did not arrive. Nothing was paid. Retry in ${seconds} s.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: seconds });
}
