/** Retries a request while that may help, and never after its execution has ended. */
import { APIConnectionError, MarketplaceError, UnexpectedAnswerError } from './error.ts';

/** Limits for retries of a request that got no answer, or a temporary error. */
export interface Patience {
  /** Maximum number of retries of one request. */
  repeats: number;
  /** Longest pause before a retry, ms. If the service asks for a longer pause, the caller gets its error instead. */
  pauseMs: number;
  /** No retry starts later than this after the first request, ms. */
  totalMs: number;
  /** The request may pay, so an attempt with an unknown outcome is not hidden by a later refusal. */
  isPaid: boolean;
  /** Called for each retry, before the pause. */
  onRepeat: (error: unknown, pauseMs: number) => void;
}

export const PATIENCE: Patience = {
  repeats: 4,
  pauseMs: 10_000,
  totalMs: Number.POSITIVE_INFINITY,
  isPaid: false,
  onRepeat: () => {},
};
/** Pauses double, unless the service asks for longer ones. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 8_000;
/** A load balancer's status says nothing about the request behind it. */
const BALANCER_STATUSES = [502, 503, 504];
/** The marketplace refuses with these before it looks for an earlier request with the same key. */
const EARLY_REFUSALS = [401, 403, 429];

/**
 * Makes a request that is safe to retry, and retries it until it gets a final answer. It waits without limit while one
 * request runs; `signal` ends the wait. If a paid request is refused after an attempt with an unknown outcome, it throws
 * the error of that attempt, with the refusal as its `cause`.
 */
export async function repeat<T>(
  request: () => Promise<T>,
  patience: Partial<Patience> = {},
  signal?: AbortSignal,
): Promise<T> {
  const { repeats, pauseMs, totalMs, isPaid, onRepeat } = { ...PATIENCE, ...patience };
  const end = performance.now() + totalMs;
  let unknown: unknown;
  for (let count = 0; ; ) {
    try {
      return await request();
    } catch (error) {
      const isRunning = error instanceof MarketplaceError && error.code === 'request_in_progress';
      if (!isRunning) count += 1;
      const asked = error instanceof MarketplaceError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
      const pause = Math.max(asked, isRunning ? FIRST_PAUSE_MS : backoff(FIRST_PAUSE_MS * 2 ** (count - 1)));
      const isInTime = count <= repeats && pause <= pauseMs && performance.now() + pause <= end;
      if (isPaid && !isEarlyRefusal(error)) unknown = error;
      if (signal?.aborted || !(isRunning || (isTransient(error) && isInTime))) throw withCause(unknown ?? error, error);
      if (!isRunning) onRepeat(error, pause);
      await sleep(pause, signal);
    }
  }
}

/** A random part keeps clients from retrying all at once. */
const backoff = (ms: number): number => Math.min(ms, LAST_PAUSE_MS) * (0.75 + Math.random() / 2);

const TRANSIENT: readonly string[] = ['service_unavailable', 'metadata_missing', 'rate_limited', 'internal_error'];

/** True for a refusal that says nothing about earlier requests. */
export function isEarlyRefusal(error: unknown): error is MarketplaceError {
  return error instanceof MarketplaceError && error.executionId === null && EARLY_REFUSALS.includes(error.status ?? 0);
}

function withCause(error: unknown, cause: unknown): unknown {
  if (error !== cause && error instanceof Error) error.cause = cause;
  return error;
}

/** True if a retry may get another answer. False once an execution has ended. */
function isTransient(error: unknown): boolean {
  if (error instanceof UnexpectedAnswerError) return BALANCER_STATUSES.includes(error.status ?? 0);
  if (error instanceof APIConnectionError) return true;
  if (error instanceof MarketplaceError) return TRANSIENT.includes(error.code) && error.executionId === null;
  return error instanceof TypeError;
}

/** Throws TypeError if the connection fails, as the standard says. workerd, the runtime of Cloudflare, throws plain errors. */
export async function connected<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'Error') throw error;
    throw new TypeError(error.message, { cause: error });
  }
}

/** Waits; ends early with the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
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
