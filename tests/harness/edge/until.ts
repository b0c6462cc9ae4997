/** Waiting for something that other processes do, without guessing how long it takes. */
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;

/**
 * Looks until the answer is true. Throws, saying what did not happen, after `limitMs`; where `progress` is given, only
 * once it has stayed the same for as long, because on a busy machine everything takes longer but goes on.
 */
export async function until(
  what: string,
  look: () => Promise<boolean> | boolean,
  limitMs = 240_000,
  progress: () => unknown = () => null,
): Promise<void> {
  let seen = await progress();
  let end = performance.now() + limitMs;
  while (!(await look())) {
    if (performance.now() > end) {
      const now = await progress();
      if (now === seen) throw new Error(`not within ${limitMs} ms: ${what}`);
      seen = now;
      end = performance.now() + limitMs;
    }
    await sleep(LOOK_MS);
  }
}

/** The same until there is something, which it returns. */
export async function untilFound<T>(
  what: string,
  look: () => Promise<T | null> | T | null,
  limitMs?: number,
): Promise<T> {
  let found: T | null = null;
  await until(
    what,
    async () => {
      found = await look();
      return found !== null;
    },
    limitMs,
  );
  return found!;
}
