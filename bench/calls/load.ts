/** The same load for each side: sequential calls, or a number of parallel callers for some seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Percentiles, percentiles } from '../figures.ts';

export interface Load {
  ms: Percentiles;
  per_second: number;
  served: number;
  failed: number;
}

const loadOf = (times: number[], failed: number, elapsedMs: number): Load => ({
  ms: percentiles(times),
  per_second: (1_000 * times.length) / elapsedMs,
  served: times.length,
  failed,
});

/** Calls of one caller. `call` throws if it was not served. */
export async function oneByOne(call: () => Promise<void>, count: number, slotMs: number): Promise<Load> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    // A random pause, so that calls are not in step with the node's slots.
    await sleep(Math.random() * slotMs);
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
  }
  const busy = times.reduce((sum, time) => sum + time, 0);
  return loadOf(times, 0, busy);
}

/** As many calls as the callers can make. Those that are not served are counted. */
export async function atOnce(call: () => Promise<void>, callers: number, seconds: number): Promise<Load> {
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const times: number[] = [];
  let failed = 0;
  const one = async () => {
    const started = performance.now();
    try {
      await call();
      times.push(performance.now() - started);
    } catch {
      failed += 1;
    }
  };
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) await one();
    }),
  );
  return loadOf(times, failed, performance.now() - begun);
}
