/** Pauses that a request can shorten, and attempts that are retried until one succeeds. */
import type { Logger } from 'pino';
import { messageOf } from '../app/database/temporary.ts';
import { NotNow } from '../app/solana/rpc.ts';
import { ApplyError } from './apply/apply.ts';

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

export type Pauses = ReturnType<typeof createPatience>;

/** `place` names the database in messages. */
export function createPatience(stopping: AbortSignal, log: Logger, place: string) {
  let error: string | null = null;
  let wake = () => {};
  let wanted = false;

  /** Pauses until the time is over or the indexer stops; if `wakeable`, also until a request. */
  async function pause(ms: number, wakeable?: 'wakeable'): Promise<void> {
    if (stopping.aborted || (wakeable && wanted)) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        stopping.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      stopping.addEventListener('abort', end);
      if (wakeable) wake = end;
    });
  }

  return {
    /** Requests work: ends the present or the next pause, if it is wakeable. */
    request(): void {
      wanted = true;
      wake();
    },
    /** Marks all requests so far as being handled. */
    begin(): void {
      wanted = false;
    },
    pause,
    /** Retries until it succeeds, or until the indexer stops (then undefined). Rethrows ApplyError. */
    async untilDone<T>(what: string, action: () => Promise<T>): Promise<T | undefined> {
      for (let retryMs = RETRY_MIN_MS; !stopping.aborted; retryMs = Math.min(2 * retryMs, RETRY_MAX_MS)) {
        try {
          const value = await action();
          if (error) log.info(`${what}: works again`);
          error = null;
          return value;
        } catch (cause) {
          // Wait at least as long as the node asks for.
          const askedMs = cause instanceof NotNow ? cause.retryAfterMs : 0;
          error = messageOf(cause, place);
          if (cause instanceof ApplyError) throw cause;
          if (stopping.aborted) return undefined;
          log.warn({ error, retryMs }, `${what} failed; it will be retried`);
          await pause(Math.max(retryMs, askedMs));
        }
      }
      return undefined;
    },
    /** Why the last attempt failed; null after a success. */
    error: () => error,
  };
}
