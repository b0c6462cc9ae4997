/**
 * Measures how much of its time the event loop works. Near all of it, every request waits for the others, so before
 * that each address may send fewer that nobody pays for.
 */
import { performance } from 'node:perf_hooks';

/** Interval of the measurements: short beside a paid call, long beside a single piece of work. */
const MEASURE_MS = 250;
/** At this share of its time, a request waits about twice as long as its own work takes. */
const BUSY_SHARE = 0.75;

export function watchLoad() {
  let before = performance.eventLoopUtilization();
  let isBusy = false;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(now, before).utilization >= BUSY_SHARE;
    before = now;
  }, MEASURE_MS);
  timer.unref();
  return {
    /** True if the event loop was busy in the latest interval. */
    isBusy: () => isBusy,
    end: () => clearInterval(timer),
  };
}
