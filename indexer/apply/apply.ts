/**
 * Writes a batch of transactions in one database transaction: raw events, derived rows, figures and cursor.
 * It first reads the affected rows, then changes them in memory in the order of the chain, and writes each once. A
 * larger batch costs less per transaction. Applying a transaction again changes nothing. A transaction that cannot be
 * applied fails the whole batch, and the error names its signature.
 */
import { type Kysely, sql } from 'kysely';
import { readRows, writeRows } from '../../app/database/bulk.ts';
import { isTemporary } from '../../app/database/temporary.ts';
import type { EventlessRow, EventRow, Flag, IndexDatabase } from '../queries/tables.ts';
import type { ChainTransaction, LateTransaction } from './chainTransaction.ts';
import { eventJson } from './eventJson.ts';
import { handleEvent } from './handlers.ts';
import { GONE_TABLES, load, loadKeyed, loadWhole } from './load.ts';
import type { AccountRows } from './readings.ts';
import { save } from './save.ts';
import { passOverGone, writeSnapshot } from './snapshot.ts';
import { type RowSet, Unit } from './unit.ts';
import { changeRow, MissingRow, writeRow } from './write.ts';

export type { ChainTransaction } from './chainTransaction.ts';

/** This version cannot write the transaction. The indexer stops, because going on would lose it. */
export class ApplyError extends Error {
  readonly signature: string;

  constructor(signature: string, cause: unknown) {
    super(`cannot apply transaction ${signature}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.signature = signature;
  }
}

/** The events are about an account whose creation is not indexed, so the transaction needs a snapshot. */
export class SnapshotNeeded extends Error {
  readonly signature: string;

  constructor(signature: string, cause: MissingRow) {
    super(`${cause.message}, but transaction ${signature} refers to it`, { cause });
    this.signature = signature;
  }
}

/** The cursor is not where the batch continues from: another process has replaced or advanced the tables. */
export class CursorMoved extends Error {}

/** Throws CursorMoved if the last applied transaction is not `after`; null means none. */
export function requireCursor(cursor: { signature: string } | null | undefined, after: string | null): void {
  const last = cursor?.signature ?? null;
  if (last !== after)
    throw new CursorMoved(`the cursor of the index is at ${last}, and this batch starts after ${after}`);
}

/**
 * Applies new transactions, which must be final and in the order of the chain. Throws ApplyError or SnapshotNeeded, and
 * then leaves the tables unchanged.
 */
export async function applyBatch(
  db: Kysely<IndexDatabase>,
  batch: readonly ChainTransaction[],
  /**
   * The last transaction applied when the batch was listed, null for none. Throws CursorMoved if it has changed since.
   */
  after?: string | null,
): Promise<void> {
  if (batch.length === 0) return;
  try {
    await db.transaction().execute(async (transaction) => {
      await applyNew(transaction, batch, after);
    });
  } catch (error) {
    if (isReported(error)) throw error;
    // The error names no transaction. Apply them one by one to find the one that fails.
    await db.transaction().execute(async (transaction) => {
      for (const [index, item] of batch.entries()) {
        // Check the cursor again: another process may have replaced the tables, which may have caused the first
        // failure.
        const last = index === 0 ? after : undefined;
        await applyNew(transaction, [item], last).catch((cause) => {
          throw isReported(cause) ? cause : new ApplyError(item.signature, cause);
        });
      }
    });
  }
}

type Db = Kysely<IndexDatabase>;

/**
 * Writes accounts as they are now, in the place of transactions up to this slot that the node does
 * not list.
 */
export async function applyAccounts(db: Db, slot: bigint, snapshot: AccountRows): Promise<void> {
  const content: ChainTransaction['content'] = { kind: 'accounts', snapshot, carried: [] };
  const at = { signature: '', slot };
  await db.transaction().execute(async (transaction) => {
    const unit = new Unit();
    await load(transaction, unit, [{ ...at, content }]);
    writeSnapshot(unit, snapshot, at);
    await save(transaction, unit);
  });
}

/** Closes the rows of accounts that no longer exist. */
export async function applyGone(db: Db, slot: bigint, table: ClosableTable, keys: readonly string[]): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const unit = new Unit();
    await loadKeyed(transaction, unit, table, keys);
    for (const key of keys) changeRow(unit, table, key, { closed: 1n, slot });
    await save(transaction, unit);
  });
}

type ClosableTable = 'grants' | 'executions' | 'deposits' | 'disputes';

/**
 * Applies a transaction after later ones: its gap is closed, or the node listed it late. Its accounts have been read now, so they give its state.
 * Its events add what no account shows, and the leaves of archives. An older state never replaces a newer one. The
 * cursor stays. Throws ApplyError.
 */
export async function applyLate(db: Db, item: LateTransaction): Promise<void> {
  await db
    .transaction()
    .execute((transaction) => writeLate(transaction, item))
    .catch((error) => {
      throw isReported(error) ? error : new ApplyError(item.signature, error);
    });
}

async function writeLate(db: Db, item: LateTransaction): Promise<void> {
  const unit = new Unit();
  const raw: Raw = { events: [], eventless: [], gaps: [] };
  await load(db, unit, [item]);
  const { gone: absent } = item.content.kind === 'unreadable' ? { gone: [] } : item.content.snapshot;
  const { executions } = unit.rows;
  const gone = absent.map(({ kind, address, accounts }) => {
    const rows = unit.rows[GONE_TABLES[kind]] as unknown as RowSet<{ closed: Flag }>;
    const status = accounts.record ? executions.get(accounts.record)?.status : undefined;
    return { kind, address, rows, wasKnown: rows.get(address) !== null, record: accounts.record ?? '', status };
  });
  foldTransaction(unit, item, raw, await readKnown(db, [item]));
  for (const { kind, address, rows, wasKnown, record, status } of gone) {
    const row = rows.get(address);
    if (!row) continue;
    // The events that ended it were passed over without a row, so a new row would stay open for ever.
    if (row.closed === 0n && !wasKnown && (kind === 'record' || kind === 'dispute')) {
      rows.remove(address);
      const disputed = kind === 'dispute' ? executions.get(record) : null;
      if (disputed && status) executions.put({ ...disputed, status });
    } else {
      rows.put({ ...row, closed: 1n });
      if (unit.rows.unread_accounts.get(address)) unit.rows.unread_accounts.remove(address);
    }
  }
  await db.deleteFrom('gaps').where('signature', '=', item.signature).execute();
  await saveRaw(db, raw);
  await markLate(db, item);
  await save(db, unit);
}

/**
 * Readers of events have passed the transaction's slot. They find its events after the slot that the tables have
 * reached.
 */
async function markLate(db: Db, { signature, slot }: LateTransaction): Promise<void> {
  await db
    .updateTable('events')
    .set({ applied_slot: sql<bigint>`(SELECT slot + 1 FROM progress)` })
    .where('slot', '=', slot)
    .where('signature', '=', signature)
    .execute();
}

/** The error already names its transaction, or concerns none. */
const isReported = (error: unknown): boolean =>
  error instanceof ApplyError || error instanceof SnapshotNeeded || error instanceof CursorMoved || isTemporary(error);

async function applyNew(db: Db, batch: readonly ChainTransaction[], after: string | null | undefined): Promise<void> {
  const unit = new Unit();
  await loadWhole(db, unit, 'cursor');
  if (after !== undefined) requireCursor(unit.rows.cursor.any(), after);
  const known = await readKnown(db, batch);
  await load(db, unit, batch);
  await saveRaw(db, fold(unit, batch, known));
  await save(db, unit);
}

/** Rows for the tables of raw events, with values in the order of the columns. */
interface Raw {
  events: unknown[][];
  eventless: unknown[][];
  gaps: unknown[][];
}

/** Nearly all transactions have one event, which needs no index in its id. */
const idOf = (signature: string, index: number) => (index === 0 ? signature : `${signature} ${index}`);
/** The event index that represents a transaction without events. */
const NO_EVENT = -1;

/** Applies transactions to the unit of work in order, and skips `known` events. */
function fold(unit: Unit, batch: readonly ChainTransaction[], known: Set<string>): Raw {
  const raw: Raw = { events: [], eventless: [], gaps: [] };
  for (const [at, item] of batch.entries()) {
    try {
      foldTransaction(unit, item, raw, known);
    } catch (error) {
      throw error instanceof MissingRow && item.content.kind === 'events'
        ? new SnapshotNeeded(item.signature, error)
        : new ApplyError(item.signature, error);
    }
    const isLastOfSlot = batch[at + 1]?.slot !== item.slot;
    if (isLastOfSlot) unit.rows.cursor.put({ id: 1n, signature: item.signature, slot: item.slot });
  }
  return raw;
}

function foldTransaction(
  unit: Unit,
  { signature, slot, content }: ChainTransaction,
  raw: Raw,
  known: Set<string>,
): void {
  if (content.kind === 'failed') return;
  if (content.kind === 'unreadable') {
    raw.gaps.push([signature, slot, content.reason]);
    unit.gaps.push({ signature, slot });
    for (const row of content.archives) writeRow(unit, 'archives', row);
    return;
  }
  const at = { signature, slot };
  const isAdded = (index: number): boolean => {
    const id = idOf(signature, index);
    const isNew = !known.has(id);
    known.add(id);
    return isNew;
  };
  if (content.snapshot) writeSnapshot(unit, content.snapshot, at);
  if (content.kind === 'accounts' || content.events.length === 0) {
    if (isAdded(NO_EVENT)) raw.eventless.push([signature, slot]);
    const carried = content.kind === 'accounts' ? content.carried : [];
    for (const event of carried) passOverGone(unit, slot, () => handleEvent(unit, event, at));
    return;
  }
  for (const [index, event] of content.events.entries()) {
    if (!isAdded(index)) continue;
    raw.events.push([signature, BigInt(index), slot, event.name, eventJson(event)]);
    if (content.snapshot) passOverGone(unit, slot, () => handleEvent(unit, event, at));
    else handleEvent(unit, event, at);
  }
}

/** Ids of the events, and of the transactions without events, that the tables already hold. */
async function readKnown(db: Db, batch: readonly ChainTransaction[]): Promise<Set<string>> {
  const known = new Set<string>();
  const slots = new Set(batch.map(({ slot }) => slot));
  const events = await readRows<EventRow, IndexDatabase>(db, 'events', ['signature', 'event_index'], 'slot', slots);
  for (const { signature, event_index } of events) known.add(idOf(signature, Number(event_index)));
  const eventless = await readRows<EventlessRow, IndexDatabase>(
    db,
    'eventless_transactions',
    ['signature'],
    'slot',
    slots,
  );
  for (const { signature } of eventless) known.add(idOf(signature, NO_EVENT));
  return known;
}

const EVENT_COLUMNS = ['signature', 'event_index', 'slot', 'name', 'data'] as const;

const GAP_COLUMNS = ['signature', 'slot', 'reason'] as const;

async function saveRaw(db: Db, { events, eventless, gaps }: Raw): Promise<void> {
  await writeRows(db, { table: 'events', columns: EVENT_COLUMNS }, events);
  await writeRows(db, { table: 'eventless_transactions', columns: ['signature', 'slot'] }, eventless);
  // A history's page is read again after a failure, and the same transaction is unreadable again.
  await writeRows(db, { table: 'gaps', columns: GAP_COLUMNS, conflict: { key: ['signature'] } }, gaps);
}
