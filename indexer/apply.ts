/**
 * Writes a page of transactions in one database transaction: raw events, derived rows, figures, cursor, and how to take them
 * back. The rows that the page is about are read first, changed in memory in the order of the chain, and written once; the
 * larger the page, the less each transaction costs. Applying a transaction again changes nothing. A transaction that cannot
 * be applied fails the whole page and names its signature.
 */
import type { Kysely } from 'kysely';
import { readRows, writeRows } from '../app/database/bulk.ts';
import { isTemporary } from '../app/database/temporary.ts';
import type { ChainTransaction } from './chainTransaction.ts';
import { eventJson } from './eventJson.ts';
import { handleEvent } from './handlers.ts';
import { load, loadWhole, readLastOpened } from './load.ts';
import { save } from './save.ts';
import { passOverGone, writeSnapshot } from './snapshot.ts';
import type { EventlessRow, EventRow, IndexDatabase } from './tables.ts';
import { raiseFloor, saveUndo } from './undo.ts';
import { Unit } from './unit.ts';
import { MissingRow } from './write.ts';

export type { ChainTransaction } from './chainTransaction.ts';
export { forgetUndo, rollbackTo } from './undo.ts';

/** A transaction whose content this version cannot write: going on would lose it, so the indexer stops. */
export class ApplyError extends Error {
  readonly signature: string;

  constructor(signature: string, cause: unknown) {
    super(`cannot apply transaction ${signature}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.signature = signature;
  }
}

/** A transaction's events are about an account that was never seen made: it needs a snapshot. */
export class SnapshotNeeded extends Error {
  readonly signature: string;

  constructor(signature: string, cause: MissingRow) {
    super(`${cause.message}, which transaction ${signature} is about`, { cause });
    this.signature = signature;
  }
}

/** The tables are not where the page goes on from: another process has replaced them, or gone on with them. */
export class CursorMoved extends Error {}

/** Throws CursorMoved where another transaction than this was applied last, null for none. */
export function requireCursor(cursor: { signature: string } | null | undefined, after: string | null): void {
  const last = cursor?.signature ?? null;
  if (last !== after) throw new CursorMoved(`the index is at ${last}, not at ${after}`);
}

/**
 * Applies new transactions in the order given, which must be the chain's. What changes above `finalizedSlot` can be taken
 * back (`rollbackTo`). Throws ApplyError or SnapshotNeeded; the tables are as before then.
 */
export async function applyPage(
  db: Kysely<IndexDatabase>,
  page: readonly ChainTransaction[],
  finalizedSlot: bigint,
  /** The last transaction applied when the page was listed, null for none: where it is another, this throws CursorMoved. */
  after?: string | null,
): Promise<void> {
  if (page.length === 0) return;
  try {
    await db.transaction().execute(async (transaction) => {
      await applyNew(transaction, page, { finalizedSlot, after });
    });
  } catch (error) {
    if (isTold(error)) throw error;
    // It names nobody: one by one and looking for everything, to find out whose fault it is.
    await db.transaction().execute(async (transaction) => {
      for (const [index, item] of page.entries()) {
        // They may have been replaced meanwhile, which the first time may have failed by.
        const last = index === 0 ? after : undefined;
        await applyNew(transaction, [item], { finalizedSlot, after: last, isTrusting: false }).catch((cause) => {
          throw isTold(cause) ? cause : new ApplyError(item.signature, cause);
        });
      }
    });
  }
}

type Db = Kysely<IndexDatabase>;

/** It says which transaction it is about, or is about none. */
export const isTold = (error: unknown): boolean =>
  error instanceof ApplyError || error instanceof SnapshotNeeded || error instanceof CursorMoved || isTemporary(error);

export interface PageOptions {
  finalizedSlot: bigint;
  /** As `applyPage` has it. */
  after?: string | null | undefined;
  /** The page before, which may still be on its way into the tables until this one is saved. */
  before?: Unit | null | undefined;
  isTrusting?: boolean;
}

/** A page in memory, which comes in parts. */
export interface PageFold {
  /** What the rows are by now. */
  unit: Unit;
  /** The last transaction applied before the page; null for none. */
  cursor: string | null;
  /** Applies new transactions in the order of the chain. Throws as `applyPage` does; what is in memory is of no use then. */
  add(part: readonly ChainTransaction[]): Promise<void>;
  /** Writes what has changed, counting figures and revisions on from what is in the tables. */
  save(): Promise<void>;
}

/** Begins a page inside a transaction, or one of its kind. */
export async function beginPage(
  db: Db,
  { finalizedSlot, after, before, isTrusting = true }: PageOptions,
): Promise<PageFold> {
  const unit = new Unit(finalizedSlot, before);
  await loadWhole(db, unit, 'cursor');
  await loadWhole(db, unit, 'configs');
  const cursor = unit.rows.cursor.any();
  if (after !== undefined) requireCursor(cursor, after);
  const reached = await lastSlot(db);
  const lastOpened = await readLastOpened(db);
  let finalized = -1n;
  return {
    unit,
    cursor: cursor?.signature ?? null,
    async add(part) {
      const known = await readKnown(db, part, reached);
      const isNew = (id: string, slot: bigint) =>
        !known.has(id) && !(before && slot <= before.slot && before.seen.has(id));
      await load(db, unit, part, { lastOpened, isTrusting });
      await saveRaw(db, foldPart(unit, part, isNew));
      await saveReadings(db, part);
      for (const { slot } of part) if (slot <= finalizedSlot && slot > finalized) finalized = slot;
    },
    async save() {
      await save(db, unit);
      await saveUndo(db, unit);
      await raiseFloor(db, finalized);
    },
  };
}

async function applyNew(db: Db, page: readonly ChainTransaction[], options: PageOptions): Promise<void> {
  const { add, save: end } = await beginPage(db, options);
  await add(page);
  await end();
}

/** What goes into the tables beside the rows, in the order of their columns. */
interface Raw {
  events: unknown[][];
  eventless: unknown[][];
}

/** Nearly all have one event. */
const idOf = (signature: string, index: number) => (index === 0 ? signature : `${signature} ${index}`);
/** Whether the tables do not have an event of a slot yet, by its id. */
type IsNew = (id: string, slot: bigint) => boolean;
/** An eventless transaction's place. */
const NO_EVENT = -1;

/** Folds transactions into the unit of work, transaction by transaction. */
function foldPart(unit: Unit, page: readonly ChainTransaction[], isNew: IsNew): Raw {
  const raw: Raw = { events: [], eventless: [] };
  for (const [at, item] of page.entries()) {
    unit.slot = item.slot;
    try {
      foldTransaction(unit, item, raw, isNew);
    } catch (error) {
      throw error instanceof MissingRow && item.content.kind === 'events'
        ? new SnapshotNeeded(item.signature, error)
        : new ApplyError(item.signature, error);
    }
    const isLastOfSlot = page[at + 1]?.slot !== item.slot;
    if (isLastOfSlot) unit.rows.cursor.put({ id: 1n, signature: item.signature, slot: item.slot });
  }
  return raw;
}

function foldTransaction(unit: Unit, { signature, slot, content }: ChainTransaction, raw: Raw, isNew: IsNew): void {
  if (content.kind === 'failed') return;
  const at = { signature, slot };
  const isAdded = (index: number): boolean => {
    const id = idOf(signature, index);
    const count = unit.seen.size;
    unit.seen.add(id);
    return unit.seen.size > count && isNew(id, slot);
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

/** Which events of these transactions, and which transactions without events, are in the tables. */
async function readKnown(db: Db, page: readonly ChainTransaction[], reached: bigint): Promise<Set<string>> {
  const known = new Set<string>();
  const slots = new Set<bigint>();
  for (const { slot } of page) if (slot <= reached) slots.add(slot);
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

/** Nothing of a later slot is in the tables, which saves looking for it. */
async function lastSlot(db: Db): Promise<bigint> {
  const of = (table: 'events' | 'eventless_transactions') =>
    db
      .selectFrom(table)
      .select(({ fn }) => fn.max<bigint | null>('slot').as('slot'))
      .executeTakeFirst();
  const [events, eventless] = [(await of('events'))?.slot ?? -1n, (await of('eventless_transactions'))?.slot ?? -1n];
  return events > eventless ? events : eventless;
}

/** What is to be looked at again until it is final. */
async function saveReadings(db: Db, page: readonly ChainTransaction[]): Promise<void> {
  const rows = page.flatMap(({ slot, content }) =>
    content.kind === 'failed' || !content.snapshot
      ? []
      : [...content.snapshot.provisionalAt].map((readSlot) => [slot, readSlot]),
  );
  const columns = ['slot', 'read_slot'];
  await writeRows(db, { table: 'readings', columns, conflict: { key: columns } }, rows);
}

const EVENT_COLUMNS = ['signature', 'event_index', 'slot', 'name', 'data'] as const;

async function saveRaw(db: Db, { events, eventless }: Raw): Promise<void> {
  await writeRows(db, { table: 'events', columns: EVENT_COLUMNS }, events);
  await writeRows(db, { table: 'eventless_transactions', columns: ['signature', 'slot'] }, eventless);
}
