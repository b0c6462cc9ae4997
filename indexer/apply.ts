/**
 * Writes a page of transactions in one database transaction: raw events, derived rows, cursor. Applying a transaction
 * again changes nothing. A transaction that cannot be applied fails the whole page and names its signature.
 */
import { PublicKey } from '@solana/web3.js';
import Sqlite from 'better-sqlite3';
import type { Kysely, Transaction } from 'kysely';
import type { MarketplaceEvent } from '../app/sdk/program/eventFields.ts';
import type { AccountRows } from './accounts.ts';
import { handleEvent } from './handlers.ts';
import { passOverGone, writeSnapshot } from './snapshot.ts';
import type { IndexDatabase } from './tables.ts';
import { forgetPositions, forgetUnread, MissingRow } from './write.ts';

/** One transaction of the chain as it is to be written. `failed` ones changed nothing but move the cursor. */
export interface ChainTransaction {
  signature: string;
  slot: bigint;
  content:
    | { kind: 'failed' }
    /** With the snapshot where the events are about accounts that no transaction before this one made. */
    | { kind: 'events'; events: MarketplaceEvent[]; snapshot?: AccountRows }
    /** With the events that the program carried in calls to itself, which need no log. */
    | { kind: 'accounts'; snapshot: AccountRows; carried: MarketplaceEvent[] };
}

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

/**
 * Applies new transactions in the order given, which must be the chain's. What changes above `finalizedSlot` can be taken
 * back (`rollbackTo`). Throws ApplyError or SnapshotNeeded; the tables are as before then.
 */
export async function applyPage(
  db: Kysely<IndexDatabase>,
  page: readonly ChainTransaction[],
  finalizedSlot: bigint,
): Promise<void> {
  void finalizedSlot;
  const last = page.at(-1);
  if (!last) return;
  await db.transaction().execute(async (transaction) => {
    for (const item of page) await applyTransaction(transaction, item, 'new');
    const cursor = { id: 1n, signature: last.signature, slot: last.slot };
    await transaction
      .insertInto('cursor')
      .values(cursor)
      .onConflict((c) => c.column('id').doUpdateSet(cursor))
      .execute();
  });
}

/**
 * Applies every transaction since a gap, in the order of the chain, those that are known too: what they said of an account
 * that was not there then, and the order of the slot's executions, come right with it. Throws as `applyPage` does.
 */
export async function applyAgain(db: Kysely<IndexDatabase>, sinceGap: readonly ChainTransaction[]): Promise<void> {
  const first = sinceGap[0];
  if (!first) return;
  await db.transaction().execute(async (transaction) => {
    await forgetPositions(transaction, first.slot);
    for (const item of sinceGap) await applyTransaction(transaction, item, 'again');
    await forgetUnread(transaction);
  });
}

/** Makes every table, the cursor too, what it was after the transactions of this slot. Throws where that cannot be known any more. */
export async function rollbackTo(db: Kysely<IndexDatabase>, slot: bigint): Promise<void> {
  throw new Error(`${db}: ${slot}`);
}

/** Forgets how to take back what changed at slots below this one. */
export async function forgetUndo(db: Kysely<IndexDatabase>, belowSlot: bigint): Promise<void> {
  throw new Error(`${db}: ${belowSlot}`);
}

/** The file was busy or the disk full: no fault of the transaction's, so it may be tried again. */
function isTemporary(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM)/.test(error.code);
}

type Db = Transaction<IndexDatabase>;

async function applyTransaction(db: Db, item: ChainTransaction, times: 'new' | 'again'): Promise<void> {
  try {
    await applyContent(db, item, times);
  } catch (error) {
    if (isTemporary(error)) throw error;
    const { kind } = item.content;
    throw error instanceof MissingRow && kind === 'events'
      ? new SnapshotNeeded(item.signature, error)
      : new ApplyError(item.signature, error);
  }
}

async function applyContent(db: Db, item: ChainTransaction, times: 'new' | 'again'): Promise<void> {
  const { signature, slot, content } = item;
  if (content.kind === 'failed') return;
  if (content.snapshot) await writeSnapshot(db, content.snapshot, { signature, slot });
  if (content.kind === 'accounts' || content.events.length === 0) {
    const known = db.insertInto('eventless_transactions').values({ signature, slot });
    await known.onConflict((c) => c.doNothing()).execute();
    const carried = content.kind === 'accounts' ? content.carried : [];
    for (const event of carried) await passOverGone(db, slot, () => handleEvent(db, event, { signature, slot }));
  } else {
    for (const [index, event] of content.events.entries()) {
      const row = { signature, event_index: BigInt(index), slot, name: event.name, data: eventJson(event) };
      const inserted = await db
        .insertInto('events')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst();
      if (!inserted.numInsertedOrUpdatedRows && times === 'new') continue;
      const handle = () => handleEvent(db, event, { signature, slot });
      await (content.snapshot ? passOverGone(db, slot, handle) : handle());
    }
  }
}

/** An event's fields as JSON: keys base58, bytes hex, 64-bit integers decimal text. */
function eventJson(event: MarketplaceEvent): string {
  return JSON.stringify(plainFields(event.data));
}

function plainFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plain(value)]));
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof PublicKey) return value.toBase58();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) return plainFields(value);
  return value;
}
