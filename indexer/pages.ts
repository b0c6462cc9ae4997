/**
 * Writes the pages of a long backfill one behind the other: while SQLite takes one in a thread of its own, the next is read
 * from the chain and folded, with what the page before has changed in memory. It is folded in small parts, of which nothing
 * but the changed rows is kept. Each page is one transaction, with how far the backfill is by then.
 */
import type { Kysely } from 'kysely';
import { beginPage, isTold, type PageFold, SnapshotNeeded } from './apply.ts';
import type { ChainTransaction } from './chainTransaction.ts';
import { deferLists } from './deferred.ts';
import { type PageThread, startPageThread } from './pageThread.ts';
import type { IndexDatabase } from './tables.ts';
import type { Unit } from './unit.ts';

type Db = Kysely<IndexDatabase>;
/** Writes how far the backfill is. */
type Keep = (db: Db) => Promise<void>;

export interface PageWriterDeps {
  db: Db;
  /** So many transactions are a page. They show that there are many more, for which a thread is worth it. */
  fullPage: number;
  /** As `applyPage` has it. */
  finalizedSlot: bigint;
  /** There is nothing in the tables yet: where there is much to come, some of their indexes are made later. */
  isEmpty: boolean;
  /** Applies the first page, and all of them where there is no thread, as `applyPage` does. */
  applyAlone(page: readonly ChainTransaction[]): Promise<void>;
}

export interface PageWriter {
  /**
   * Takes the next transactions, in the chain's order, and what keeps that the backfill has come so far. Throws as
   * `applyPage` does, of this page or the one before, or NotWritten; after that nothing more is taken.
   */
  add(part: readonly ChainTransaction[], keep?: Keep): Promise<void>;
  /** Resolves when all that was taken is in the tables. Throws as `add` does. */
  settle(): Promise<void>;
  /** Ends the thread, once it has written the pages that it was given. */
  close(): Promise<void>;
}

/**
 * The thread could not write a page, or it needs what the thread's pages do without. Whoever goes on from what is in the
 * tables with another writer gets it applied alone, or is told what is wrong with it.
 */
export class NotWritten extends Error {}

/** Transactions that are folded at once: to read for more of them in one go saves little. */
const PART = 200;

export function createPageWriter({ db, fullPage, finalizedSlot, isEmpty, applyAlone }: PageWriterDeps): PageWriter {
  let thread: PageThread | null = null;
  /** What is not folded yet; without a thread, the whole page. */
  let taken: ChainTransaction[] = [];
  /** Of the page at hand. */
  let count = 0;
  let keep: Keep | null = null;
  let fold: PageFold | null = null;
  let before: { unit: Unit; isWritten: Promise<boolean> } | null = null;
  let hasFailed = false;

  async function foldTaken(ahead: PageThread): Promise<PageFold> {
    fold ??= await beginPage(ahead.db, { finalizedSlot, before: before?.unit });
    const part = taken;
    taken = [];
    await fold.add(part);
    return fold;
  }

  async function requireWritten(): Promise<void> {
    if (before && !(await before.isWritten)) throw new NotWritten();
  }

  async function endAhead(ahead: PageThread): Promise<void> {
    const { unit, cursor, save } = await foldTaken(ahead);
    // What is saved is counted on from what the page before has left.
    await requireWritten();
    await save();
    await keep?.(ahead.db);
    before = { unit, isWritten: ahead.commit(cursor) };
    fold = null;
  }

  async function endAlone(): Promise<void> {
    const page = taken;
    taken = [];
    if (isEmpty && count >= fullPage) await deferLists(db);
    isEmpty = false;
    await applyAlone(page);
    await keep?.(db);
    if (count >= fullPage) thread = await startPageThread(db);
  }

  async function endPage(): Promise<void> {
    await (thread ? endAhead(thread) : endAlone());
    count = 0;
    keep = null;
  }

  async function guard(run: () => Promise<void>): Promise<void> {
    if (hasFailed) return;
    try {
      await run();
    } catch (error) {
      hasFailed = true;
      if (thread && (!isTold(error) || error instanceof SnapshotNeeded)) throw new NotWritten('', { cause: error });
      throw error;
    }
  }

  return {
    add(part, keepPart) {
      return guard(async () => {
        for (const transaction of part) taken.push(transaction);
        count += part.length;
        keep = keepPart ?? keep;
        if (count >= fullPage) await endPage();
        else if (thread && taken.length >= PART) await foldTaken(thread);
      });
    },
    settle() {
      return guard(async () => {
        if (count > 0) await endPage();
        await requireWritten();
      });
    },
    async close() {
      await thread?.end();
      thread = null;
    },
  };
}
