/** What the index knows about executions and deposits, compared with their rows in the ledger. */
import { type Kysely, sql } from 'kysely';
import type { OpenedRecord } from './notes.ts';
import type { JournalRow, LedgerDatabase } from './tables.ts';

/** How the chain opened and ended an execution. Times are unix seconds, amounts base units. */
export interface IndexedEnd extends OpenedRecord {
  listing: string;
  /** Hex. */
  requestHash: string;
  /** The key or the deposit that it was opened with; both null if its wallet did. */
  keyId: string | null;
  deposit: string | null;
  isRefunded: boolean;
  settledAt: bigint;
  creatorAmount: bigint;
  platformAmount: bigint;
}

/** The end of an execution with a closed or archived record, by the index; null if the index has none. */
export async function readClosedEnd(views: Kysely<LedgerDatabase>, id: string): Promise<IndexedEnd | null> {
  const row = await views
    .selectFrom('chain.executions')
    .select(['listing', 'request_hash', 'key_id', 'deposit', 'status', 'opened_at', 'refund_at'])
    .select(['settled_at', 'creator_amount', 'platform_amount'])
    .where('execution_id', '=', id)
    .where('closed', '=', 1n)
    .executeTakeFirst();
  if (!row?.settled_at) return null;
  return {
    listing: row.listing,
    requestHash: row.request_hash,
    keyId: row.key_id,
    deposit: row.deposit,
    openedAt: row.opened_at,
    refundAt: row.refund_at,
    isRefunded: row.status === 'refunded',
    settledAt: row.settled_at,
    creatorAmount: row.creator_amount,
    platformAmount: row.platform_amount,
  };
}

/**
 * Records that are open in the index and have no row or a void one in the ledger. With `overAt` (unix seconds), only
 * those that nobody serves any more: a record without a row may be another deployment's until its deadline.
 */
export async function readUnknownOpen(views: Kysely<LedgerDatabase>, overAt?: bigint): Promise<string[]> {
  const rows = await views
    .selectFrom('chain.executions as c')
    .leftJoin('executions as j', 'j.execution_id', 'c.execution_id')
    // A literal, as in the partial index.
    .where(sql<boolean>`c.status = 'open'`)
    .where((eb) => eb.or([eb('j.execution_id', 'is', null), eb('j.state', '=', 'void')]))
    .$if(overAt !== undefined, (query) =>
      query.where((eb) => eb.or([eb('j.state', '=', 'void'), eb('c.deadline', '<=', overAt!)])),
    )
    .select('c.record')
    .execute();
  return rows.map(({ record }) => record);
}

/**
 * Rows whose deposit counts as returned, or is being returned, although it paid for an open record: its open has landed
 * after all. The index knows that from the open itself, also when no node has its status any more.
 */
export function readLandedReturns(
  views: Kysely<LedgerDatabase>,
): Promise<Pick<JournalRow, 'execution_id' | 'state'>[]> {
  return (
    views
      .selectFrom('chain.executions as c')
      .innerJoin('executions as j', 'j.execution_id', 'c.execution_id')
      // A literal, as in the partial index.
      .where(sql<boolean>`c.status = 'open'`)
      .where('j.state', 'in', ['returning', 'returned'])
      .whereRef('c.deposit', '=', 'j.deposit')
      .select(['j.execution_id', 'j.state'])
      .execute()
  );
}

/** True if the index knows that this deposit was refunded and opened no execution. */
export async function isReturned(views: Kysely<LedgerDatabase>, deposit: string): Promise<boolean> {
  const found = views.selectFrom('chain.deposits').select('deposit').where('deposit', '=', deposit);
  return (await found.where('status', '=', 'refunded').where('closed', '=', 1n).executeTakeFirst()) !== undefined;
}
