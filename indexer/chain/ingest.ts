/**
 * Writes the chain's transactions to the tables: lists those of the program since the cursor, and applies them oldest
 * first. One `pass` does this once. It is safe to call at any time, and an error loses nothing.
 */
import type { Kysely } from 'kysely';
import { chunks } from '../../app/process/chunks.ts';
import { UnreadableTransaction } from '../../app/sdk/program/transaction.ts';
import type { History, HistoryPage } from '../../app/solana/helius.ts';
import { applyBatch, requireCursor, SnapshotNeeded } from '../apply/apply.ts';
import type { ChainTransaction } from '../apply/chainTransaction.ts';
import type { IndexDatabase } from '../queries/tables.ts';
import * as backfill from './backfill.ts';
import {
  type Cursor,
  isFinal,
  isForgotten,
  isOnChain,
  NotJoined,
  readNewer,
  requireJoin,
  SignatureUnknown,
  splitUnfinished,
} from './listing.ts';
import { forgetFalseLoss, type PrunedDeps, passOverPruned, readAwaited } from './pruned.ts';
import { gapOf, type Listed, type ReadDeps, readSnapshot, readTransactions, Vanished } from './transactions.ts';

export interface IngestDeps extends PrunedDeps, ReadDeps {
  /** Source that fills an empty index. By default, the node's list of signatures, newest first. */
  history?: History;
  /** Transactions per database transaction; tests use fewer. */
  batchSize?: number;
  /** Called for a transaction that the node returned and that cannot be read. It is in `gaps` now. */
  onUnreadable?(signature: string, reason: string): void;
  /** Called after each part of a backfill. */
  onProgress?(progress: backfill.Progress): void;
  /** Called when a transaction shows that the node left out an earlier one. */
  onGap?(evidence: SnapshotNeeded): void;
}

/** Transactions per database transaction. Writing them blocks the event loop for 20 ms. */
const BATCH_SIZE = 100;
/**
 * Pages of a history per database transaction. Most executions begin and end within ten pages, so each is written once
 * and not twice. Writing them blocks the event loop for 0.2 s, which nobody notices while the index is being filled.
 */
const HISTORY_PAGES = 10;
/** No node forgets slots this close to the last final one, so it need not be asked. */
const KEPT_SLOTS = 31n;

/**
 * Applies everything that is new. Returns the slot up to which the tables are complete. Throws ApplyError for a
 * transaction that can never be applied, and NotJoined if the node's list does not reach the cursor. Any other error
 * may be temporary.
 */
export async function pass(deps: IngestDeps): Promise<bigint> {
  const finalized = BigInt(await deps.connection.getSlot('finalized'));
  const awaited = await readAwaited(deps.db);
  if (finalized + 1n < awaited) {
    throw new Error(
      `the node's last final slot is ${finalized}, but the index has reached ${awaited - 1n}: it is behind`,
    );
  }
  // Lists from now on include everything up to this slot.
  return passAt({ ...deps, minSlot: finalized }, finalized);
}

async function passAt(deps: IngestDeps, finalized: bigint): Promise<bigint> {
  await goOnWithBackfill(deps);
  const cursor = await readCursor(deps.db);
  const listed = await readNewer(deps, cursor);
  const awaited = await readAwaited(deps.db);
  // Ask after listing, because the list does not show where the node cut it.
  if (finalized - awaited > KEPT_SLOTS && (await passOverPruned(deps, awaited))) return pass(deps);
  const { finished, head } = splitUnfinished(listed, finalized);
  const last = listed.at(-1);
  if (last && listed.length >= deps.signaturePage && !isFinal(last)) {
    throw new Error('the node lists more transactions of unfinished blocks than a page holds');
  }
  if (last && (!cursor || listed.length >= deps.signaturePage)) {
    // More than one answer, or an empty index: keep the list on disk.
    await backfill.begin(deps.db, 'listing');
    await backfill.append(deps.db, finished);
    await goOnWithBackfill(deps);
  } else if (finished.length > 0) {
    await applyListed(deps, finished.map(toListed).reverse(), cursor);
  }
  await writeProgress(deps.db, head, finished[0]?.signature ?? cursor?.signature ?? null);
  return head;
}

export function readCursor(db: Kysely<IndexDatabase>): Promise<Cursor | undefined> {
  return db.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
}

/** Stores how far the tables are complete. Throws CursorMoved if the last applied transaction is not `after`. */
async function writeProgress(db: Kysely<IndexDatabase>, slot: bigint, after: string | null): Promise<void> {
  const progress = { id: 1n, slot, checked_at: BigInt(Date.now()) };
  await db.transaction().execute(async (transaction) => {
    requireCursor(await readCursor(transaction), after);
    await transaction
      .insertInto('progress')
      .values(progress)
      .onConflict((c) => c.column('id').doUpdateSet(progress))
      .execute();
  });
}

/** Finishes a backfill that an earlier pass or process began. Starts with the history if the index is empty. */
async function goOnWithBackfill(deps: IngestDeps): Promise<void> {
  const { db, history } = deps;
  if (history && !(await backfill.readState(db)) && !(await readCursor(db))) {
    await backfill.begin(db, 'history');
  }
  for (;;) {
    const state = await backfill.readState(db);
    if (!state) return;
    try {
      await goOn(deps, state);
      await forgetFalseLoss(db);
      return await backfill.end(db);
    } catch (error) {
      // The tables hold everything before it.
      if (error instanceof Vanished && (await passOverPruned(deps, error.slot))) continue;
      throw error;
    }
  }
}

async function goOn(deps: IngestDeps, state: backfill.BackfillState): Promise<void> {
  if (state.state === 'history') {
    if (deps.history) await readHistory(deps, deps.history, state);
    return;
  }
  if (state.state === 'listing') await listOlder(deps);
  await applyList(deps);
}

/**
 * Applies the rest of the history in the order of the chain. Transactions read twice after a restart change nothing.
 */
async function readHistory(deps: IngestDeps, history: History, state: backfill.BackfillState): Promise<void> {
  let pages: HistoryPage[] = [];
  const applyPages = async () => {
    const batch = pages.flatMap(({ transactions }) =>
      transactions.map((item) => ({ ...item, slot: BigInt(item.slot) })),
    );
    const next = pages.at(-1)?.next ?? null;
    pages = [];
    await applyRead(deps, batch);
    const last = batch.at(-1);
    if (last) deps.onProgress?.({ step: 'applying', slot: last.slot });
    if (next !== null) await backfill.keepToken(deps.db, next);
  };
  try {
    for await (const page of history(deps.programId.toBase58(), state.token)) {
      pages.push(page);
      if (pages.length === HISTORY_PAGES) await applyPages();
    }
  } finally {
    // A source that fails every few pages still advances.
    await applyPages();
  }
}

/** Extends the list until nothing is older. It uses constant memory and reads no batch twice. */
async function listOlder(deps: IngestDeps): Promise<void> {
  const cursor = await readCursor(deps.db);
  for (let oldest = await backfill.readOldest(deps.db); oldest; oldest = await backfill.readOldest(deps.db)) {
    const page = await readNewer(deps, cursor, oldest.signature).catch((error: Error) => {
      if (error instanceof SignatureUnknown) return [];
      throw error;
    });
    if (page.some(({ slot }) => BigInt(slot) > oldest!.slot))
      throw new Error('the node lists newer transactions where older ones were requested');
    if (page.length === 0) {
      await requireEnd(deps, oldest, cursor);
      break;
    }
    await backfill.append(deps.db, page);
    deps.onProgress?.({ step: 'listing', slot: oldest.slot });
  }
  await backfill.closeList(deps.db);
}

/** Throws if the list may be incomplete. If it can no longer be completed, the next pass starts it again. */
async function requireEnd(deps: IngestDeps, oldest: Cursor, cursor: Cursor | undefined): Promise<void> {
  if (await passOverPruned(deps, await readAwaited(deps.db))) return;
  // The list is complete, and the node has forgotten the cursor.
  if (cursor && (await isForgotten(deps, cursor))) return;
  try {
    // A node that does not know the oldest signature also lists nothing older.
    if (!(await isOnChain(deps, oldest))) throw new Vanished(oldest);
    if (cursor) await requireJoin(deps, oldest, cursor);
  } catch (error) {
    if (error instanceof Vanished || error instanceof NotJoined) await backfill.end(deps.db);
    throw error;
  }
}

/** Applies the list on disk from its stored position. */
async function applyList(deps: IngestDeps): Promise<void> {
  const { db, batchSize = BATCH_SIZE } = deps;
  for (;;) {
    const cursor = await readCursor(db);
    if (cursor) await backfill.dropApplied(db, cursor.signature);
    const batch = await backfill.readOldestBatch(db, batchSize);
    if (batch.length === 0) return;
    await applyListed(deps, batch, cursor);
    deps.onProgress?.({ step: 'applying', slot: batch.at(-1)!.slot });
  }
}

/** Applies listed transactions, oldest first. */
async function applyListed(
  deps: IngestDeps,
  oldestFirst: readonly Listed[],
  cursor: Cursor | undefined,
): Promise<void> {
  let after = cursor?.signature ?? null;
  for (const batch of chunks(oldestFirst, deps.batchSize ?? BATCH_SIZE)) {
    await applyRead(deps, batch, after);
    for (const { signature } of batch) deps.notices.done(signature);
    after = batch.at(-1)!.signature;
  }
}

/** Reads transactions and applies them. If one cannot be read, it still applies those before it. */
async function applyRead(deps: IngestDeps, batch: readonly Listed[], after?: string | null): Promise<void> {
  const { read, failure } = await readTransactions(deps, batch);
  await applyWithSnapshots(deps, read, after);
  for (const { signature, content } of read)
    if (content.kind === 'unreadable') deps.onUnreadable?.(signature, content.reason);
  if (failure !== null) throw failure;
}

/** Applies transactions. Reads the accounts of those that depend on a transaction the node left out. */
async function applyWithSnapshots(
  deps: IngestDeps,
  transactions: readonly ChainTransaction[],
  after?: string | null,
): Promise<void> {
  for (;;) {
    try {
      return await applyBatch(deps.db, transactions, after);
    } catch (error) {
      if (!(error instanceof SnapshotNeeded)) throw error;
      deps.onGap?.(error);
      const item = transactions.find(({ signature }) => signature === error.signature);
      if (item?.content.kind !== 'events') throw error;
      item.content = await withSnapshot(deps, item, item.content);
    }
  }
}

/** Events without the accounts that they need are a gap. */
async function withSnapshot(
  deps: IngestDeps,
  item: ChainTransaction,
  content: ChainTransaction['content'],
): Promise<ChainTransaction['content']> {
  try {
    return { ...content, snapshot: await readSnapshot(deps, item) } as ChainTransaction['content'];
  } catch (error) {
    if (error instanceof UnreadableTransaction) return gapOf(deps, error, item.slot);
    throw error;
  }
}

function toListed({ signature, slot, err }: { signature: string; slot: number; err: unknown }): Listed {
  return { signature, slot: BigInt(slot), hasFailed: err !== null };
}
