/**
 * Brings the chain's transactions into the tables: asks the node which touched the program since the cursor, and applies
 * them oldest first. One `pass` does that once; it is safe to call at any time and loses nothing when it throws.
 */
import type { Kysely } from 'kysely';
import type { History } from '../app/solana/helius.ts';
import { applyPage, requireCursor, SnapshotNeeded } from './apply.ts';
import * as backfill from './backfill.ts';
import type { ChainTransaction } from './chainTransaction.ts';
import { restoreLists } from './deferred.ts';
import {
  type Cursor,
  isOnChain,
  type ListingDeps,
  NotJoined,
  readPage,
  requireJoin,
  requireNewer,
  splitUnfinished,
} from './listing.ts';
import { createPageWriter, NotWritten, type PageWriter } from './pages.ts';
import type { IndexDatabase } from './tables.ts';
import {
  type Listed,
  type ReadDeps,
  readFetched,
  readHeard,
  readSnapshot,
  readTransactions,
  Vanished,
} from './transactions.ts';

export interface IngestDeps extends ListingDeps, ReadDeps {
  db: Kysely<IndexDatabase>;
  /** Where an empty index is filled from; without it, from the node's signatures, newest first. */
  history?: History;
  /** Transactions per database transaction of a backfill. */
  backfillPage?: number;
  /** Told that the node has left out a transaction, by one that builds on it. */
  onGap?(evidence: SnapshotNeeded): void;
}

/** Transactions per database transaction. */
const APPLY_PAGE = 50;
/** And of a backfill, where each costs the less the more there are: some 30 MB, of which there are two at once. */
const BACKFILL_PAGE = 8_000;
/**
 * What changes in so many slots before the finalized one can be taken back too: in these, transactions that the node left out
 * are searched for (reconcile.ts). Over three minutes of mainnet.
 */
export const UNDO_SLOTS = 1_024n;

/**
 * Applies everything that is new. Returns the slot up to which the tables are complete. Throws ApplyError for what can never
 * be applied, NotJoined where the node's list does not lead to what was applied last, anything else for what may work when
 * tried again.
 */
export async function pass(deps: IngestDeps): Promise<bigint> {
  // Asked first: whatever is confirmed up to here is among the signatures asked for next.
  const confirmed = BigInt(await deps.connection.getSlot('confirmed'));
  await goOnWithBackfill(deps);
  const cursor = await readCursor(deps.db);
  const listed = await readPage(deps, { until: cursor?.signature });
  requireNewer(listed, cursor);
  const { finished, head } = splitUnfinished(listed, confirmed);
  const last = listed.at(-1);
  if (listed.length >= deps.signaturePage && last?.confirmationStatus === 'processed') {
    throw new Error('the node lists more of an unfinished block than fits a page');
  }
  if (last && (!cursor || listed.length >= deps.signaturePage)) {
    // More than a page, or all there is: by a list on the disk.
    await backfill.begin(deps.db, 'listing', await readFinalized(deps));
    await backfill.append(deps.db, finished);
    await goOnWithBackfill(deps);
  } else if (finished.length > 0) {
    const finalized = await readFinalized(deps);
    await applyListed(deps, finished.map(toListed).reverse(), finalized, cursor);
  }
  await writeProgress(deps.db, head, finished[0]?.signature ?? cursor?.signature ?? null);
  return head;
}

export function readCursor(db: Kysely<IndexDatabase>): Promise<Cursor | undefined> {
  return db.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
}

export async function readFinalized({ connection }: ListingDeps): Promise<bigint> {
  return BigInt(await connection.getSlot('finalized'));
}

/** Says how far the tables are complete, if they are those that were written to: after this transaction. */
async function writeProgress(db: Kysely<IndexDatabase>, slot: bigint, after: string | null): Promise<void> {
  const progress = { id: 1n, slot, checked_at: BigInt(Date.now()) };
  await db.transaction().execute(async (transaction) => {
    requireCursor(await readCursor(transaction), after);
    await transaction
      .insertInto('progress')
      .values({ ...progress, finalized_slot: null })
      .onConflict((c) => c.column('id').doUpdateSet(progress))
      .execute();
  });
}

/** Ends what an earlier pass, or an earlier process, has begun; begins with the history where there is nothing yet. */
async function goOnWithBackfill(deps: IngestDeps): Promise<void> {
  const { db, history } = deps;
  if (history && !(await backfill.readState(db)) && !(await readCursor(db))) {
    await backfill.begin(db, 'history', await readFinalized(deps));
  }
  for (;;) {
    const state = await backfill.readState(db);
    if (!state) return restoreLists(db);
    try {
      await goOn(deps, state);
      await restoreLists(db);
      return await backfill.end(db);
    } catch (error) {
      // Each time at least the first page is applied, or is told what is wrong with it.
      if (!(error instanceof NotWritten)) throw error;
    }
  }
}

async function goOn(deps: IngestDeps, state: backfill.BackfillState): Promise<void> {
  if (state.state === 'history') {
    if (deps.history) await readHistory(deps, deps.history, state);
    return;
  }
  if (state.state === 'listing') await listOlder(deps);
  await applyList(deps, state.finalized_slot);
}

/** The rest of the history, in the order of the chain. What comes twice, because a process ended in between, changes nothing. */
async function readHistory(deps: IngestDeps, history: History, state: backfill.BackfillState): Promise<void> {
  const { finalized_slot: finalizedSlot } = state;
  const writer = createWriter(deps, finalizedSlot, await readCursor(deps.db), false);
  await finishing(writer, async () => {
    for await (const { transactions, next } of history(deps.programId.toBase58(), state.token)) {
      const read: ChainTransaction[] = [];
      try {
        for (const { signature, slot, hasFailed, logs } of transactions) {
          const item = { signature, slot: BigInt(slot), hasFailed };
          read.push(readHeard(deps, item, logs) ?? (await readFetched(deps, item, finalizedSlot)));
        }
      } catch (failure) {
        await writer.add(read);
        throw failure;
      }
      await writer.add(read, next === null ? undefined : (to) => backfill.keepToken(to, next));
    }
  });
}

/** Lists on, page by page, until there is nothing older: in constant memory, and never the same page twice. */
async function listOlder(deps: IngestDeps): Promise<void> {
  const cursor = await readCursor(deps.db);
  for (let oldest = await backfill.readOldest(deps.db); oldest; oldest = await backfill.readOldest(deps.db)) {
    const page = await readPage(deps, { until: cursor?.signature, before: oldest.signature });
    requireNewer(page, cursor);
    if (page.some(({ slot }) => BigInt(slot) > oldest!.slot))
      throw new Error('the node lists newer transactions as older');
    if (page.length === 0) {
      await requireEnd(deps, oldest, cursor);
      break;
    }
    await backfill.append(deps.db, page);
  }
  await backfill.closeList(deps.db);
}

/** Throws where the list may not be whole; where it cannot become so any more, it is begun anew by the next pass. */
async function requireEnd(deps: IngestDeps, oldest: Cursor, cursor: Cursor | undefined): Promise<void> {
  try {
    // Nothing is older than what the node does not know.
    if (!(await isOnChain(deps, oldest))) throw new Vanished(oldest);
    if (cursor) await requireJoin(deps, oldest, cursor);
  } catch (error) {
    if (error instanceof Vanished || error instanceof NotJoined) await backfill.end(deps.db);
    throw error;
  }
}

/** Applies the list on the disk, from where it was left. */
async function applyList(deps: IngestDeps, finalizedSlot: bigint): Promise<void> {
  const { db, backfillPage = BACKFILL_PAGE } = deps;
  const cursor = await readCursor(db);
  if (cursor) await backfill.dropApplied(db, cursor.signature);
  const writer = createWriter(deps, finalizedSlot, cursor, true);
  try {
    await finishing(writer, async () => {
      for (let after: bigint | null = null; ; ) {
        const page = await backfill.readOldestPage(db, backfillPage, after);
        if (page.length === 0) break;
        const { read, failure } = await readAhead(deps, page, finalizedSlot);
        const last = page[read.length - 1];
        if (last) {
          await writer.add(read, (to) => backfill.drop(to, last.position));
          for (const { signature } of read) deps.notices.done(signature);
          after = last.position;
        }
        if (failure !== null) throw failure;
      }
    });
  } catch (error) {
    // What was not final when it was listed may be gone: then what is left of the list is not the chain's any more.
    if (error instanceof Vanished && error.slot > finalizedSlot) await backfill.end(db);
    throw error;
  }
}

/** `isChained`: the pages follow one another and the cursor, with nobody else's in between. */
function createWriter(
  deps: IngestDeps,
  finalizedSlot: bigint,
  cursor: Cursor | undefined,
  isChained: boolean,
): PageWriter {
  const { db, backfillPage: fullPage = BACKFILL_PAGE } = deps;
  let after = isChained ? (cursor?.signature ?? null) : undefined;
  const applyAlone = async (page: readonly ChainTransaction[]) => {
    await applyWithSnapshots(deps, page, finalizedSlot, after);
    if (isChained) after = page.at(-1)!.signature;
  };
  return createPageWriter({ db, fullPage, finalizedSlot: finalizedSlot - UNDO_SLOTS, isEmpty: !cursor, applyAlone });
}

/** What was read before something failed is written too: it is not asked for again. */
async function finishing(writer: PageWriter, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    try {
      await writer.settle();
    } finally {
      await writer.close();
    }
  }
}

/** As many as the node gives before a call fails: what it has given is not asked for again. */
async function readAhead(deps: IngestDeps, page: readonly Listed[], finalizedSlot: bigint) {
  const read: ChainTransaction[] = [];
  try {
    for (let start = 0; start < page.length; start += APPLY_PAGE) {
      read.push(...(await readTransactions(deps, page.slice(start, start + APPLY_PAGE), finalizedSlot)));
    }
  } catch (failure) {
    return { read, failure };
  }
  return { read, failure: null };
}

/** Applies listed transactions, oldest first. */
async function applyListed(
  deps: IngestDeps,
  oldestFirst: readonly Listed[],
  finalizedSlot: bigint,
  cursor: Cursor | undefined,
): Promise<void> {
  let after = cursor?.signature ?? null;
  for (let start = 0; start < oldestFirst.length; start += APPLY_PAGE) {
    const page = oldestFirst.slice(start, start + APPLY_PAGE);
    await applyWithSnapshots(deps, await readTransactions(deps, page, finalizedSlot), finalizedSlot, after);
    for (const { signature } of page) deps.notices.done(signature);
    after = page.at(-1)!.signature;
  }
}

/** Applies transactions, with the accounts of those that are about something which the node has left out. */
async function applyWithSnapshots(
  deps: IngestDeps,
  transactions: readonly ChainTransaction[],
  finalizedSlot: bigint,
  after: string | null | undefined,
): Promise<void> {
  for (;;) {
    try {
      return await applyPage(deps.db, transactions, finalizedSlot - UNDO_SLOTS, after);
    } catch (error) {
      if (!(error instanceof SnapshotNeeded)) throw error;
      deps.onGap?.(error);
      const item = transactions.find(({ signature }) => signature === error.signature);
      if (item?.content.kind !== 'events') throw error;
      item.content.snapshot = await readSnapshot(deps, item, finalizedSlot);
    }
  }
}

function toListed({ signature, slot, err }: { signature: string; slot: number; err: unknown }): Listed {
  return { signature, slot: BigInt(slot), hasFailed: err !== null };
}
