/**
 * Transactions that were heard of over WebSocket and wait to be applied, with their logs. Bounded: a notice that is
 * dropped costs one more request, never an event.
 */
import type { LogNotification } from '../app/solana/subscription.ts';

/** With logs of at most 10,000 bytes, some 20 MB. */
const MOST_WAITING = 2_000;
/** Signatures remembered as done, because notices may come after a pass has applied them. */
const MOST_DONE = 4_000;

export interface Notices {
  /** Takes a notice; false when its transaction has been applied already. */
  add(notice: LogNotification): boolean;
  /** As they were heard of the transaction in this slot: in another, on another fork, they may have been others. */
  logsOf(transaction: { signature: string; slot: bigint }): string[] | undefined;
  /** The transaction has been applied. */
  done(signature: string): void;
  /** How many wait. */
  waiting(): number;
  /** Forgets all that wait. */
  clear(): void;
}

export function createNotices(): Notices {
  const waiting = new Map<string, { slot: bigint; logs: string[] | undefined }>();
  const done = new Set<string>();
  return {
    add({ signature, slot, error, logs }) {
      if (done.has(signature)) return false;
      waiting.set(signature, { slot, logs: error ? undefined : logs });
      dropOldest(waiting, MOST_WAITING);
      return true;
    },
    logsOf({ signature, slot }) {
      const heard = waiting.get(signature);
      return heard?.slot === slot ? heard.logs : undefined;
    },
    done(signature) {
      waiting.delete(signature);
      done.add(signature);
      dropOldest(done, MOST_DONE);
    },
    waiting: () => waiting.size,
    clear: () => waiting.clear(),
  };
}

/** Maps and sets iterate in the order of insertion. */
function dropOldest(collection: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of collection.keys()) {
    if (collection.size <= most) return;
    collection.delete(key);
  }
}
