/**
 * Transactions received over WebSocket that wait to be applied, with their logs. The number is bounded: a dropped
 * notice costs one more request, never an event.
 */
import type { LogNotification } from '../../app/solana/subscription.ts';

/** About 20 MB, with logs of at most 10,000 bytes. */
const MOST_WAITING = 2_000;
/** Applied signatures to remember, because notices may arrive after a pass has applied the transaction. */
const MOST_DONE = 4_000;

export type Notices = ReturnType<typeof createNotices>;

export function createNotices() {
  const waiting = new Map<string, { slot: bigint; logs: string[] | undefined }>();
  const done = new Set<string>();
  return {
    /** Adds a notice. Returns false if its transaction has been applied already. */
    add({ signature, slot, error, logs }: LogNotification): boolean {
      if (done.has(signature)) return false;
      waiting.set(signature, { slot, logs: error ? undefined : logs });
      dropOldest(waiting, MOST_WAITING);
      return true;
    },
    /**
     * The logs received for the transaction in this slot. A validator may run it in a slot that is skipped, and again in a
     * later one at another time of the clock.
     */
    logsOf({ signature, slot }: Pick<LogNotification, 'signature' | 'slot'>): string[] | undefined {
      const heard = waiting.get(signature);
      return heard?.slot === slot ? heard.logs : undefined;
    },
    /** Marks the transaction as applied. */
    done(signature: string): void {
      waiting.delete(signature);
      done.add(signature);
      dropOldest(done, MOST_DONE);
    },
    /** Number of waiting notices. */
    waiting: () => waiting.size,
    /** Drops all waiting notices. */
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
