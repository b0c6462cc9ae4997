/**
 * Listings that have taken as much as their collateral covers: the program refuses their opens until its window is over,
 * and each refusal costs a network fee. After one they are left alone for a while.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';

const REST_MS = 30_000;
const MAX_LISTINGS = 10_000;

export interface Exposure {
  /** The program has refused an open because of the listing's limit. */
  reached(listing: string): void;
  /** Throws ApiError 503 while that is not long ago. */
  requireRoom(listing: string): void;
}

export function createExposure(): Exposure {
  const full = new LRUCache<string, true>({ max: MAX_LISTINGS, ttl: REST_MS });
  return {
    reached: (listing) => void full.set(listing, true),
    requireRoom(listing) {
      if (!full.has(listing)) return;
      const message = 'The agent has taken as many executions as its collateral covers just now; nothing was paid';
      const retryAfterSeconds = Math.ceil(full.getRemainingTTL(listing) / 1_000);
      throw new ApiError('service_unavailable', message, { retryAfterSeconds });
    },
  };
}
