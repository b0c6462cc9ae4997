/** Waiting for something that other processes do, without guessing how long it takes. */
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;

/** Looks until the answer is true. Throws, saying what did not happen, after `limitMs`. */
export async function until(what: string, look: () => Promise<boolean>, limitMs = 60_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(LOOK_MS);
  }
}
