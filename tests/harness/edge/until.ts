/** Waits for something that other processes do, without guessing how long it takes. */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
const LONGEST_POLL_MS = 200;

/** The pause before the next poll. A long wait polls less often, because each poll takes processor time from its event. */
const pauseAfter = (waitedMs: number) => Math.min(Math.max(POLL_MS, waitedMs / 20), LONGEST_POLL_MS);

/**
 * Polls until `poll` returns true. After `limitMs` it throws an error with `what` did not happen. With `progress`, it
 * throws only if that value has not changed for `limitMs`: a busy machine is slow but makes progress.
 */
export async function until(
  what: string,
  poll: () => Promise<boolean> | boolean,
  limitMs = 240_000,
  progress: () => unknown = () => null,
): Promise<void> {
  const started = performance.now();
  let seen = await progress();
  let end = started + limitMs;
  while (!(await poll())) {
    if (performance.now() > end) {
      const now = await progress();
      if (now === seen) throw new Error(`not within ${limitMs} ms: ${what}`);
      seen = now;
      end = performance.now() + limitMs;
    }
    await sleep(pauseAfter(performance.now() - started));
  }
}

/** Polls until `poll` returns a value, and returns it. */
export async function untilFound<T>(
  what: string,
  poll: () => Promise<T | null> | T | null,
  limitMs?: number,
): Promise<T> {
  let found: T | null = null;
  await until(
    what,
    async () => {
      found = await poll();
      return found !== null;
    },
    limitMs,
  );
  return found!;
}

/** A promise, and the function that resolves it. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
