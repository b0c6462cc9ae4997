/** Waiting, with and without a time limit. */
import type { Writable } from 'node:stream';

/** The clock of this machine. */
export interface Now {
  /** Unix milliseconds. */
  now(): number;
}

/** The clock of the chain, by which its records have their times. */
export interface ChainClock {
  /** `clock`: unix seconds. */
  accounts: { clock(): bigint };
}

/** Resolves when the promise has settled either way, or after `ms`. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.then(nothing, nothing), limit]);
  clearTimeout(timer);
}

/** Waits until all promises have settled. Throws the first failure. */
export async function allSettled(promises: Iterable<Promise<unknown>>): Promise<void> {
  const ends = await Promise.allSettled(promises);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Resolves when the stream can take more, when it is closed, or after `ms`. */
export function drained(stream: Writable, ms?: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stream.off('drain', done).off('close', done);
      resolve();
    };
    const timer = ms === undefined ? undefined : setTimeout(done, ms);
    stream.once('drain', done).once('close', done);
  });
}

/**
 * Repeats `run` with this pause, for the first time after `firstMs`. It does not keep the process alive. The returned
 * function stops it, and resolves when the current run has finished.
 */
export function runEvery(
  pauseMs: number,
  run: () => Promise<unknown>,
  onError: (error: unknown) => void,
  firstMs = pauseMs,
): () => Promise<void> {
  let isEnded = false;
  let present: Promise<unknown> = Promise.resolve();
  let timer = setTimeout(next, firstMs).unref();
  function next(): void {
    present = run()
      .catch(onError)
      .then(() => {
        if (!isEnded) timer = setTimeout(next, pauseMs).unref();
      });
  }
  return async () => {
    isEnded = true;
    clearTimeout(timer);
    await present;
  };
}

function nothing(): void {}
