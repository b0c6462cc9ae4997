/**
 * Transactions received over WebSocket that wait to be applied, with their logs. The number is bounded: a dropped
 * notice costs one more request, never an event.
 */
import type { LogNotification } from '../../app/solana/subscription.ts';

/** About 20 MB, with logs of at most 10,000 bytes. */
const MOST_WAITING = 2_000;
/** Applied signatures to remember, because notices may arrive after a pass has applied the transaction. */
const MOST_DONE = 4_000;

export interface Notices {
  /** Adds a notice. Returns false if its transaction has been applied already. */
  add(notice: LogNotification): boolean;
  /**
   * The logs received for the transaction in this slot. A validator may run it in a slot that is skipped, and again in a
   * later one at another time of the clock.
   */
  logsOf(transaction: { signature: string; slot: bigint }): string[] | undefined;
  /** Marks the transaction as applied. */
  done(signature: string): void;
  /** Number of waiting notices. */
  waiting(): number;
  /** Drops all waiting notices. */
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
