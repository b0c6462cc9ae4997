/**
 * Whether there is room for what new executions would write. Those that have begun go on writing: the gate leaves them what is
 * left, and where even that is used up they wait until there is room again.
 */
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { isFull } from '../../database/temporary.ts';

const LOOK_MS = 3_000;
/** How long after a write that found no room new executions wait: longer than what has begun waits between two writes. */
const QUIET_MS = 15_000;

export interface Storage {
  /** Looks once; a folder that cannot be looked at changes nothing. */
  look(): Promise<void>;
  /** The same writes; one that finds no room is noticed at once. */
  listenTo(writes: GroupCommit): GroupCommit;
  /** Looks regularly from now on, until `end`. */
  start(): void;
  end(): void;
}

/** `onChange` is told when room becomes too little, and when there is enough again. */
export function createStorage(options: {
  /** Bytes that are free where the ledger is; null where this computer cannot tell. */
  readFree: (() => Promise<number>) | null;
  /** New executions stop below; 0: only where a write has found no room. */
  minFree: number;
  onChange(isLow: boolean): void;
  log: Logger;
  /** Milliseconds. */
  now(): number;
}): Storage {
  const { readFree, minFree, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let fullAt = Number.NEGATIVE_INFINITY;
  let wasLow = false;

  function tell(isLow: boolean, free: number | null): void {
    if (isLow === wasLow) return;
    wasLow = isLow;
    if (isLow) log.error({ free_bytes: free }, 'there is too little room for the ledger; nothing new is accepted');
    else log.info({ free_bytes: free }, 'there is room for the ledger again');
    options.onChange(isLow);
  }

  async function look(): Promise<void> {
    const free = readFree === null || minFree === 0 ? null : await readFree();
    tell((free !== null && free < minFree) || options.now() - fullAt < QUIET_MS, free);
  }

  async function noticing<Answer>(writing: Promise<Answer>): Promise<Answer> {
    try {
      return await writing;
    } catch (error) {
      if (isFull(error)) {
        fullAt = options.now();
        tell(true, null);
      }
      throw error;
    }
  }

  return {
    look,
    listenTo: (writes) => ({
      ...writes,
      intend: (query) => noticing(writes.intend(query)),
      note: (query) => noticing(writes.note(query)),
      alone: (locks, queries, begin) => noticing(writes.alone(locks, queries, begin)),
    }),
    start() {
      timer = setInterval(() => {
        look().catch((error) => log.warn({ error: String(error) }, 'free room could not be read'));
      }, LOOK_MS);
      timer.unref();
    },
    end: () => clearInterval(timer),
  };
}

/** Bytes that a process without privileges may still write in the folder's file system. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
