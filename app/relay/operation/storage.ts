/**
 * Checks if there is disk space for new executions. Running ones continue in the remaining space. If that is used up,
 * they wait until there is space again.
 */
import type { Logger } from 'pino';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { isFull } from '../../database/temporary.ts';
import { runEvery } from '../waiting.ts';

const POLL_MS = 3_000;
/** After a write failed for lack of space, new executions are refused this long: longer than running ones retry. */
const QUIET_MS = 15_000;

export type Storage = ReturnType<typeof createStorage>;

/** `onChange` is called when there is too little space, and when there is enough again. */
export function createStorage(options: {
  /** Free bytes at the ledger; null if this computer cannot tell. */
  readFree: (() => Promise<number>) | null;
  /** New executions stop below this many bytes. 0: only after a write failed for lack of space. */
  minFree: number;
  onChange(isLow: boolean): void;
  log: Logger;
  /** Milliseconds. */
  now(): number;
}) {
  const { readFree, minFree, log } = options;
  let stop: (() => Promise<void>) | undefined;
  let fullAt = Number.NEGATIVE_INFINITY;
  let wasLow = false;

  function report(isLow: boolean, free: number | null): void {
    if (isLow === wasLow) return;
    wasLow = isLow;
    if (isLow)
      log.error(
        { free_bytes: free },
        'too little disk space for the ledger; new executions are refused until there is more',
      );
    else log.info({ free_bytes: free }, 'the ledger has enough disk space again');
    options.onChange(isLow);
  }

  /** Checks once; an unreadable folder changes nothing. */
  async function poll(): Promise<void> {
    const free = readFree === null || minFree === 0 ? null : await readFree();
    report((free !== null && free < minFree) || options.now() - fullAt < QUIET_MS, free);
  }

  async function noticing<Answer>(writing: Promise<Answer>): Promise<Answer> {
    try {
      return await writing;
    } catch (error) {
      if (isFull(error)) {
        fullAt = options.now();
        report(true, null);
      }
      throw error;
    }
  }

  return {
    poll,
    /** Wraps the writes, to notice a lack of space at once. */
    listenTo: (writes: GroupCommit): GroupCommit => ({
      ...writes,
      intend: (...queries) => noticing(writes.intend(...queries)),
      intendAll: (queries) => noticing(writes.intendAll(queries)),
      note: (...queries) => noticing(writes.note(...queries)),
      underLocks: (...given) => noticing(writes.underLocks(...given)),
    }),
    /** Checks regularly from now on, until `end`. */
    start(): void {
      stop = runEvery(POLL_MS, poll, (error) => log.warn({ error }, 'cannot read the free disk space'));
    },
    end: () => void stop?.(),
  };
}
