/** Those who wait until the tables have reached a slot. */

export interface Waiters {
  /** How many wait. */
  size(): number;
  /** Resolves once the tables hold this slot. Throws after `timeoutMs`, with `reason` for why it may have taken so long. */
  wait(slot: bigint, timeoutMs: number, reason: () => string | null): Promise<void>;
  /** Those who wait now, to be told how far the tables are by what is done next. */
  present(): (head: bigint) => void;
  /** Nothing will come any more. */
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
