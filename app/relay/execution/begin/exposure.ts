/**
 * Remembers listings that have reached the limit of their collateral. The program refuses their opens until the window
 * ends, and each refusal costs a network fee. The relay therefore refuses such a listing for a while.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors.ts';

const REST_MS = 30_000;
const MAX_LISTINGS = 10_000;

export function createExposure() {
  const full = new LRUCache<string, true>({ max: MAX_LISTINGS, ttl: REST_MS });
  return {
    /** The program refused an open because of the listing's limit. */
    reached: (listing: string): void => void full.set(listing, true),
    /** Throws ApiError 503 if that happened recently. */
    requireRoom(listing: string): void {
      if (!full.has(listing)) return;
      const message =
        'The agent has reached the limit of calls that its collateral covers in this period. Nothing was charged. Retry later.';
      const retryAfterSeconds = Math.ceil(full.getRemainingTTL(listing) / 1_000);
      throw new ApiError('service_unavailable', message, { retryAfterSeconds });
    },
  };
}
