/** Repeating a request: as long as it makes sense, and never where an execution has ended. */
import { MarketplaceError } from './answer.ts';

/** How long a request is repeated that got no answer, or one that says "not now". */
export interface Patience {
  /** Most repeats of one request. */
  repeats: number;
  /** Longest pause before one; a service that asks for a longer one is told of to the caller instead. */
  pauseMs: number;
  /** No repeat begins later than this after the first request. */
  totalMs: number;
  /** Hears of each repeat, before the pause. */
  onRepeat: (error: unknown, pauseMs: number) => void;
}

export const PATIENCE: Patience = {
  repeats: 4,
  pauseMs: 10_000,
  totalMs: Number.POSITIVE_INFINITY,
  onRepeat: () => {},
};
/** Pauses double, unless the service asks for longer ones. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 8_000;
/** Answers of a balancer that say nothing of the request behind it. */
const BALANCER_STATUSES = [502, 503, 504];

/**
 * Makes a request that may be repeated until it has an answer that counts. While the first one still runs, it waits as
 * long as that takes: `signal` ends the waiting.
 */
export async function repeat<T>(
  request: () => Promise<T>,
  patience: Partial<Patience> = {},
  signal?: AbortSignal,
): Promise<T> {
  const { repeats, pauseMs, totalMs, onRepeat } = { ...PATIENCE, ...patience };
  const end = performance.now() + totalMs;
  for (let count = 0; ; ) {
    try {
      return await request();
    } catch (error) {
      const isRunning = error instanceof MarketplaceError && error.code === 'request_in_progress';
      if (!isRunning) count += 1;
      const asked = error instanceof MarketplaceError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
      const pause = Math.max(asked, isRunning ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LAST_PAUSE_MS));
      const isInTime = count <= repeats && pause <= pauseMs && performance.now() + pause <= end;
      if (signal?.aborted || !(isRunning || (isTransient(error) && isInTime))) throw error;
      if (!isRunning) onRepeat(error, pause);
      await sleep(pause, signal);
    }
  }
}

/** Whether the same request may find another answer: not where an execution has ended. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof MarketplaceError)) return error instanceof TypeError;
  if (error.code === 'unknown') return BALANCER_STATUSES.includes(error.status);
  return (error.code === 'service_unavailable' || error.status === 429) && error.executionId === null;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
