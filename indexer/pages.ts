/**
 * Writes the pages of a long backfill one behind the other: while SQLite takes one in a thread of its own, the next is read
 * from the chain and folded, with what the page before has changed in memory. Each page is one transaction, with how far the
 * backfill is by then. Where the thread cannot write a page it is applied without it, which says what is wrong.
 */
import type { Kysely } from 'kysely';
import { applyNew, applyPage, isTold } from './apply.ts';
import type { ChainTransaction } from './chainTransaction.ts';
import { type PageThread, startPageThread } from './pageThread.ts';
import type { IndexDatabase } from './tables.ts';
import type { Unit } from './unit.ts';

type Db = Kysely<IndexDatabase>;

export interface Page {
  transactions: readonly ChainTransaction[];
  finalizedSlot: bigint;
  /** As `applyPage` has it. */
  after: string | null | undefined;
  /** Writes how far the backfill is with this page. */
  keep(db: Db): Promise<void>;
}

export interface PageWriter {
  /** Applies a page, at the latest while the next one is made. Throws as `applyPage` does, of this page or the one before. */
  apply(page: Page): Promise<void>;
  /** Resolves when all pages are in the tables. Throws as `applyPage` does. */
  settle(): Promise<void>;
  /** Ends the thread; what it has not written, it does not write. */
  close(): Promise<void>;
}

/** The thread has not written the page before. */
class NotWritten extends Error {}

/** `fullPage`: so many transactions show that there are many more, for which a thread is worth it. */
export function createPageWriter(db: Db, fullPage: number): PageWriter {
  let thread: PageThread | null = null;
  let before: { page: Page; unit: Unit; isWritten: Promise<boolean> } | null = null;

  async function applyAlone({ transactions, finalizedSlot, after, keep }: Page): Promise<void> {
    await applyPage(db, transactions, finalizedSlot, after);
    await keep(db);
  }

  async function applyAhead({ db: ahead, begin, commit }: PageThread, page: Page): Promise<void> {
    const unit = await applyNew(ahead, page.transactions, page.finalizedSlot, page.after, {
      ahead: {
        before: before?.unit ?? null,
        async begin(cursor) {
          if (before && !(await before.isWritten)) throw new NotWritten();
          begin(cursor);
        },
      },
    });
    await page.keep(ahead);
    before = { page, unit, isWritten: commit() };
  }

  async function close(): Promise<void> {
    const ending = thread;
    thread = null;
    await ending?.end();
  }

  async function settle(): Promise<void> {
    const last = before;
    before = null;
    if (!last || (await last.isWritten)) return;
    await close();
    await applyAlone(last.page);
  }

  return {
    settle,
    close,
    async apply(page) {
      if (page.transactions.length >= fullPage) thread ??= await startPageThread(db);
      if (!thread) return applyAlone(page);
      try {
        await applyAhead(thread, page);
      } catch (error) {
        const isBegun = thread.isBegun();
        await settle();
        if (isBegun) await close();
        if (isTold(error)) throw error;
        await applyAlone(page);
      }
    },
  };
}
