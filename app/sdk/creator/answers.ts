/**
 * Stores a creator's answers, so that a repeated execution_id gets the same bytes. It is bounded by age and size, and
 * drops the least recently used first. It always keeps executions in progress, and repeats share one run.
 */

interface Entry {
  /** Hash of the request, so that an id cannot fetch the answer to another task. */
  fingerprint: string;
  answer: Promise<Buffer>;
  bytes: number;
  /** Milliseconds of the system clock; null while the execution is in progress. */
  expiresAt: number | null;
}

/** Approximate cost of an entry besides its answer, so that many small answers are bounded too. */
const ENTRY_BYTES = 512;

export interface Answers {
  /** Returns the answer for this id. Only the first call runs `run`. Null if the id came with another request. */
  once(executionId: string, fingerprint: string, run: () => Promise<Buffer>): Promise<Buffer> | null;
}

/** Keeps answers for `rememberMs` after their last use, `rememberBytes` in all. `run` must not reject. */
export function createAnswers(rememberMs: number, rememberBytes: number): Answers {
  // A Map iterates in the order of insertion. Each use inserts again, so the first entries are the oldest.
  const entries = new Map<string, Entry>();
  let totalBytes = 0;

  function forgetOld(): void {
    for (const [executionId, entry] of entries) {
      if (entry.expiresAt === null) continue;
      if (entry.expiresAt > Date.now() && totalBytes <= rememberBytes) return;
      entries.delete(executionId);
      totalBytes -= entry.bytes;
    }
  }

  function use(executionId: string, entry: Entry): void {
    entry.expiresAt = Date.now() + rememberMs;
    entries.delete(executionId);
    entries.set(executionId, entry);
  }

  async function runFirst(executionId: string, entry: Entry, run: () => Promise<Buffer>): Promise<Buffer> {
    const answer = await run();
    entry.bytes = answer.length + ENTRY_BYTES;
    totalBytes += entry.bytes;
    use(executionId, entry);
    forgetOld();
    return answer;
  }

  return {
    once(executionId, fingerprint, run) {
      forgetOld();
      const known = entries.get(executionId);
      if (known && known.fingerprint !== fingerprint) return null;
      if (known) {
        if (known.expiresAt !== null) use(executionId, known);
        return known.answer;
      }
      const entry: Entry = { fingerprint, answer: Promise.resolve(Buffer.alloc(0)), bytes: 0, expiresAt: null };
      entries.set(executionId, entry);
      entry.answer = runFirst(executionId, entry, run);
      return entry.answer;
    },
  };
}
