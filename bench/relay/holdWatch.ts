/** How long the event loop of this process is held: by the clock, and of that on the processor. */
import { closeSync, openSync, readSync } from 'node:fs';

export interface Hold {
  /** By the clock: also what other processes took meanwhile. */
  ms: number;
  /** On the processor, of the main thread alone; the kernel counts it in steps of up to 4 ms. */
  cpuMs: number;
}

/** Looks every millisecond; `take` is told the longest hold since the last time. */
export function watchHolds(): { take(): Hold } {
  const schedule = openSync('/proc/self/schedstat', 'r');
  const buffer = Buffer.alloc(128);
  const cpuNow = (): number => {
    const length = readSync(schedule, buffer, 0, buffer.length, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let worst: Hold = { ms: 0, cpuMs: 0 };
  let at = performance.now();
  let cpuAt = cpuNow();
  setInterval(() => {
    const [now, cpu] = [performance.now(), cpuNow()];
    worst = { ms: Math.max(worst.ms, now - at), cpuMs: Math.max(worst.cpuMs, cpu - cpuAt) };
    [at, cpuAt] = [now, cpu];
  }, 1).unref();
  process.once('exit', () => closeSync(schedule));
  return {
    take() {
      const taken = worst;
      worst = { ms: 0, cpuMs: 0 };
      return taken;
    },
  };
}
