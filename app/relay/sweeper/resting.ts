/**
 * Accounts that could not be removed recently, such as a record whose sponsor cannot receive lamports. They are retried
 * with a growing delay.
 */
import { LRUCache } from 'lru-cache';

export type Resting = ReturnType<typeof createResting>;

const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 86_400_000;
/** Most entries. The oldest are evicted first, which costs one more attempt for each. */
const MOST_RESTING = 100_000;

export function createResting(now: () => number) {
  const resting = new LRUCache<string, { untilMs: number; restMs: number }>({ max: MOST_RESTING });
  return {
    rests: (address: string): boolean => (resting.peek(address)?.untilMs ?? 0) > now(),
    rest(address: string): void {
      const restMs = Math.min(LONGEST_REST_MS, 8 * (resting.peek(address)?.restMs ?? FIRST_REST_MS / 8));
      resting.set(address, { untilMs: now() + restMs, restMs });
    },
  };
}
