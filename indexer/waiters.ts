/** Callers that wait until the tables reach a slot. */

export interface Waiters {
  /** Number of waiting callers. */
  size(): number;
  /** Resolves when the tables hold this slot. Throws after `timeoutMs`; `reason` explains the delay. */
  wait(slot: bigint, timeoutMs: number, reason: () => string | null): Promise<void>;
  /** Takes the callers that wait now. The returned function tells them how far the tables are after the next pass. */
  present(): (head: bigint) => void;
  /** Rejects all, because the indexer has ended. */
  rejectAll(error: Error): void;
}

interface Waiter {
  slot: bigint;
  resolve(): void;
  reject(error: Error): void;
}

export function createWaiters(): Waiters {
  const waiting = new Set<Waiter>();
  return {
    size: () => waiting.size,
    async wait(slot, timeoutMs, reason) {
      const waiter: Waiter = { slot, resolve: () => {}, reject: () => {} };
      const reached = new Promise<void>((resolve, reject) => {
        waiter.resolve = resolve;
        waiter.reject = reject;
      });
      const timer = setTimeout(() => {
        const why = reason();
        waiter.reject(new Error(`the index did not reach slot ${slot} in ${timeoutMs} ms${why ? `: ${why}` : ''}`));
      }, timeoutMs);
      waiting.add(waiter);
      try {
        await reached;
      } finally {
        clearTimeout(timer);
        waiting.delete(waiter);
      }
    },
    present() {
      const present = [...waiting];
      return (head) => {
        for (const waiter of present) {
          if (head < waiter.slot) continue;
          waiting.delete(waiter);
          waiter.resolve();
        }
      };
    },
    rejectAll(error) {
      for (const waiter of waiting) waiter.reject(error);
    },
  };
}
