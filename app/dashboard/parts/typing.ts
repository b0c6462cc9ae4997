/** Waits for a pause in typing, so that a query whose key is typed text does not send a request per character. */

const PAUSE_MS = 200;

/** Rejects if typing goes on: the query has another key then, and its `signal` is aborted. */
export async function pauseInTyping(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  signal.throwIfAborted();
}
