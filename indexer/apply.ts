/**
 * Writes a page of transactions in one database transaction: raw events, derived rows, cursor. Applying a transaction
 * again changes nothing. A transaction that cannot be applied fails the whole page and names its signature.
 */
import { PublicKey } from '@solana/web3.js';
import Sqlite from 'better-sqlite3';
import type { Kysely, Transaction } from 'kysely';
import type { MarketplaceEvent } from '../app/sdk/events.ts';
import { REFUND_REASONS } from '../app/sdk/program.ts';
import type { Snapshot } from './accounts.ts';
import { handleEvent, type Position } from './handlers.ts';
import type { IndexDatabase } from './tables.ts';
import {
  changeExecution,
  changeGrant,
  endExecution,
  writeConfig,
  writeCreator,
  writeDispute,
  writeExecution,
  writeGrant,
  writeListing,
  writeUnread,
} from './write.ts';

const EXPIRED = BigInt(REFUND_REASONS.indexOf('expired'));

/** One transaction of the chain as it is to be written. `failed` ones changed nothing but move the cursor. */
export interface ChainTransaction {
  signature: string;
  slot: bigint;
  content:
    | { kind: 'failed' }
    | { kind: 'events'; events: MarketplaceEvent[] }
    | { kind: 'accounts'; snapshot: Snapshot };
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

/** Applies transactions in the order given, which must be the chain's. Throws ApplyError. */
export async function applyPage(db: Kysely<IndexDatabase>, page: readonly ChainTransaction[]): Promise<void> {
  const last = page.at(-1);
  if (!last) return;
  await db.transaction().execute(async (transaction) => {
    for (const item of page) {
      try {
        await applyTransaction(transaction, item);
      } catch (error) {
        throw isTemporary(error) ? error : new ApplyError(item.signature, error);
      }
    }
    const cursor = { id: 1n, signature: last.signature, slot: last.slot };
    await transaction
      .insertInto('cursor')
      .values(cursor)
      .onConflict((c) => c.column('id').doUpdateSet(cursor))
      .execute();
  });
}

/** The file was busy or the disk full: no fault of the transaction's, so it may be tried again. */
function isTemporary(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM)/.test(error.code);
}

async function applyTransaction(db: Transaction<IndexDatabase>, item: ChainTransaction): Promise<void> {
  const { signature, slot, content } = item;
  if (content.kind === 'accounts') {
    await writeSnapshot(db, content.snapshot, { signature, slot });
  } else if (content.kind === 'events') {
    for (const [index, event] of content.events.entries()) {
      const row = { signature, event_index: BigInt(index), slot, name: event.name, data: eventJson(event) };
      const inserted = await db
        .insertInto('events')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows) await handleEvent(db, event, { signature, slot });
    }
  }
}

async function writeSnapshot(db: Transaction<IndexDatabase>, snapshot: Snapshot, at: Position): Promise<void> {
  // The relay as it was known before this snapshot, which may be from a later time.
  const known = await db.selectFrom('configs').select('relay_authority').executeTakeFirst();
  const relay = known?.relay_authority ?? snapshot.configs[0]?.relay_authority;
  const reasonOf = (record: string, refundedAt: bigint, refundAt: bigint): bigint | null => {
    const refund = snapshot.refunds.find((candidate) => candidate.record === record);
    if (!refund) return null;
    // The program takes a reason from the relay only, and before `refund_at` only the relay can refund; anybody else's
    // refund is an expiry.
    return refund.authority === relay || refundedAt < refundAt ? refund.reason : EXPIRED;
  };
  for (const row of snapshot.configs) await writeConfig(db, row);
  for (const row of snapshot.creators) await writeCreator(db, row);
  for (const row of snapshot.listings) await writeListing(db, row);
  for (const row of snapshot.grants) await writeGrant(db, row);
  for (const row of snapshot.executions) {
    const refundedAt = row.status === 'refunded' ? row.settled_at : null;
    const reason = refundedAt === null ? null : reasonOf(row.record, refundedAt, row.refund_at);
    await writeExecution(db, { ...row, reason });
  }
  for (const row of snapshot.disputes) {
    // A disputed record was settled, so that its account and its row are there.
    const record = db.selectFrom('executions').select('execution_id').where('record', '=', row.record);
    await writeDispute(db, { ...row, ...(await record.executeTakeFirstOrThrow()) });
  }
  for (const { instruction, address, time } of snapshot.gone) {
    if (instruction === 'close_grant') await changeGrant(db, address, { revoked: 1n, closed: 1n, slot: at.slot });
    else if (instruction === 'close_execution') await changeExecution(db, address, { closed: 1n, slot: at.slot });
    else if (instruction === 'refund_execution') {
      const query = db.selectFrom('executions').select(['opened_at', 'refund_at']).where('record', '=', address);
      const row = (await query.executeTakeFirst()) ?? { opened_at: 0n, refund_at: 0n };
      // A slot's time may be a second off the clock that the program read.
      const settledAt = time > row.opened_at ? time : row.opened_at;
      const reason = reasonOf(address, settledAt, row.refund_at);
      await endExecution(db, address, at, reason, { status: 'refunded', settled_at: settledAt });
    } else await writeUnread(db, { address, slot: at.slot });
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
