/** Waits for an execution's end, for a limited time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Execution, Market } from '../market.ts';
import { isOpen } from '../shapes.ts';

/** Most calls settle within a second or two. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 2_000;

/**
 * The execution once it has ended, or its last reading when `signal` aborts. Throws if there is none by then. `known` is
 * an earlier reading.
 */
export async function waitForEnd(
  { request }: Market,
  executionId: string,
  signal: AbortSignal,
  known: Execution | null = null,
): Promise<Execution> {
  let last = known;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LAST_PAUSE_MS)) {
    try {
      last = await request('getExecution', { execution_id: executionId }, { signal });
    } catch (error) {
      if (!last || !signal.aborted) throw error;
    }
    if (!isOpen(last) || signal.aborted) return last;
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Runs with a signal that aborts after `ms`, or with `other`. Not AbortSignal.any and AbortSignal.timeout: Node 20 may
 * collect such a signal before it aborts.
 */
export async function within<Value>(
  other: AbortSignal,
  ms: number,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const abort = () => controller.abort(other.reason);
  const timer = setTimeout(() => controller.abort(new DOMException('No answer in time', 'TimeoutError')), ms);
  if (other.aborted) abort();
  other.addEventListener('abort', abort, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    other.removeEventListener('abort', abort);
  }
}
