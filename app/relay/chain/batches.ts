/**
 * Batches readings of accounts into one call to the node. Readings of the same turn of the event loop share a call;
 * many come together when a slot is final. Readings during a call, or soon after a shared one, share the next call.
 * A caller that reads alone, one reading after another, never waits.
 */

/** Accounts that one caller wants at this slot or later. */
export interface Reading {
  addresses: string[];
  minSlot: number;
}

/** A node returns at most 100 accounts per call; one is the clock. */
const MAX_ADDRESSES = 99;
/**
 * A reading waits for others at most as long as the last call took, so at worst it takes twice as long. It never waits
 * longer than this, a quarter of a slot.
 */
const MAX_GAP_MS = 50;

interface Waiting<Answer> extends Reading {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * `readAll` answers several readings together, in their order. They have at most 99 different accounts; a single
 * reading may have more.
 */
export function createBatcher<Answer>(
  readAll: (readings: readonly Reading[]) => Promise<Answer[]>,
): (reading: Reading) => Promise<Answer> {
  let waiting: Waiting<Answer>[] = [];
  let addresses = new Set<string>();
  let calledAt = Number.NEGATIVE_INFINITY;
  let underWay = 0;
  let wasShared = false;
  let tookMs = MAX_GAP_MS;
  let turn: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearImmediate(turn);
    clearTimeout(timer);
    [turn, timer] = [undefined, undefined];
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    addresses = new Set();
    const begunAt = performance.now();
    calledAt = begunAt;
    wasShared = batch.length > 1;
    underWay += 1;
    try {
      const answers = await readAll(batch);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      underWay -= 1;
      tookMs = performance.now() - begunAt;
      // Readings that arrived meanwhile wait longer only if calls are shared.
      if (timer !== undefined) {
        clearTimeout(timer);
        timer = undefined;
        schedule();
      }
    }
  }

  function schedule(): void {
    if (turn !== undefined || timer !== undefined) return;
    const waitMs = underWay > 0 || wasShared ? calledAt + Math.min(tookMs, MAX_GAP_MS) - performance.now() : 0;
    if (waitMs <= 0) turn = setImmediate(flush);
    else timer = setTimeout(flush, waitMs);
  }

  return (reading) =>
    new Promise((resolve, reject) => {
      const together = new Set([...addresses, ...reading.addresses]);
      if (waiting.length > 0 && together.size > MAX_ADDRESSES) void flush();
      waiting.push({ ...reading, resolve, reject });
      for (const address of reading.addresses) addresses.add(address);
      schedule();
    });
}
