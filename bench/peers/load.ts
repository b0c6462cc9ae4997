/** The same load for each side: sequential calls, then a number of parallel callers for some seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { median, quantile } from '../figures.ts';

export interface Speed {
  median_ms: number;
  p90_ms: number;
}

export interface Load extends Speed {
  per_second: number;
  failed: number;
}

const speedOf = (times: number[]): Speed => ({ median_ms: median(times), p90_ms: quantile(times, 0.9) });

/** `call` throws if it was not served. */
export async function oneByOne(call: () => Promise<void>, count: number, slotMs: number): Promise<Speed> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    // A random pause, so that calls are not in step with the node's slots.
    await sleep(Math.random() * slotMs);
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
  }
  return speedOf(times);
}

export async function atOnce(call: () => Promise<void>, callers: number, seconds: number): Promise<Load> {
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const times: number[] = [];
  let failed = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        const started = performance.now();
        await call().then(
          () => times.push(performance.now() - started),
          () => {
            failed += 1;
          },
        );
      }
    }),
  );
  return { ...speedOf(times), per_second: times.length / ((performance.now() - begun) / 1_000), failed };
}
