/** Unfinished rows: their owners, and the time of their next attempt. */
import { type Kysely, sql } from 'kysely';
import { isPostgres, textsOf } from '../../database/portable.ts';
import type { OpenedRecord } from './notes.ts';
import { type ExecutionColumns, IS_UNFINISHED, type JournalRow, type LedgerDatabase } from './tables.ts';
import type { Writing } from './writing.ts';

/** Rows per transfer; the next one follows half a second later. */
const TAKEN_AT_ONCE = 500;

type Moved = Pick<JournalRow, 'execution_id' | 'state'>;

/** The columns of an end, without one. */
const NOT_ENDED = {
  settled_at: null,
  creator_amount: null,
  platform_amount: null,
  refund_state: null,
  error_code: null,
  error_message: null,
};

/** The unfinished rows of one journal. */
export function createUnfinished({ writes, db, owner }: Writing) {
  /**
   * Moves a row of any relay, unless it has moved since it was read. It belongs to no relay after that. Its transactions
   * get this outcome, because the end in the row followed from theirs: null, it is unknown again.
   */
  async function moveAnyones(
    { execution_id: id, state }: Moved,
    changes: Partial<ExecutionColumns> & Pick<ExecutionColumns, 'state'>,
    outcome: 'expired' | null = null,
  ): Promise<void> {
    const move = db
      .updateTable('executions')
      .set({ ...changes, lease_owner: null, rest_until_ms: 0n })
      .where('execution_id', '=', id)
      .where('state', '=', state);
    // Both lock the row first, as every move does.
    const moved = db
      .selectFrom('executions')
      .select('execution_id')
      .where('execution_id', '=', id)
      .where('state', '=', changes.state)
      .where('lease_owner', 'is', null);
    const outcomes = db.updateTable('transactions').set({ outcome }).where('execution_id', 'in', moved);
    await writes.note(move.compile(), outcomes.compile());
  }

  return {
    /** Recovery leaves the row alone until then. */
    async restUntil(id: string, untilMs: number): Promise<void> {
      await db
        .updateTable('executions')
        .set({ rest_until_ms: BigInt(untilMs) })
        .where('execution_id', '=', id)
        .where('lease_owner', '=', owner)
        .execute();
    },
    /** Leaves every unfinished row of this process to the next owner. */
    async handOver(): Promise<void> {
      await db
        .updateTable('executions')
        .set({ lease_owner: null, rest_until_ms: 0n })
        .where(IS_UNFINISHED)
        .where('lease_owner', '=', owner)
        .execute();
    },
    /**
     * Takes unfinished rows that none of these relays owns, oldest first. It takes at most `limit`, so that several
     * relays share them. It skips rows that another relay is taking at this moment.
     */
    async takeRowsOfOthersThan(alive: string[], limit = TAKEN_AT_ONCE): Promise<void> {
      const rows = db
        .selectFrom('executions')
        .select('execution_id')
        .where(IS_UNFINISHED)
        .where(sql<boolean>`(lease_owner IS NULL OR lease_owner NOT IN ${textsOf(db, [owner, ...alive])})`)
        .orderBy('created_ms')
        .limit(limit);
      // SQLite has no row locks and needs none: it has one writer.
      await db
        .updateTable('executions')
        .set({ lease_owner: owner, rest_until_ms: 0n })
        .where('execution_id', 'in', isPostgres(db) ? rows.forUpdate().skipLocked() : rows)
        .execute();
    },
    /**
     * Doubts the end of a row. Any relay then continues it, and it ends as its record says. The Idempotency-Key of a void
     * row may have another call by now, so the row gives it up.
     */
    parkEnded: (row: Moved) =>
      moveAnyones(row, { state: 'parked', ...NOT_ENDED, ...(row.state === 'void' && { fingerprint: null }) }),
    /** Doubts that a row is paid. Any relay then sends its settle again, signed anew where it is dead. */
    settleAgain: (row: Moved) => moveAnyones(row, { state: 'verified', rebuilds: 0n, ...NOT_ENDED }),
    /** Ends a row whose open is on no chain any more, nor what followed it. Its caller has paid nothing. */
    endLost: (row: Moved, endedAt: bigint) => {
      const end = {
        ...NOT_ENDED,
        state: 'void' as const,
        // What the open repaid is owed again.
        opened_at: null,
        settled_at: endedAt,
        error_code: 'service_unavailable',
        error_message: 'The Solana cluster was restarted and lost this call. Nothing was charged.',
      };
      return moveAnyones(row, end, 'expired');
    },
    /** The rows, out of these, that another process has taken. */
    async takenByOthers(ids: readonly string[]): Promise<string[]> {
      const rows = await db
        .selectFrom('executions')
        .select('execution_id')
        .where(sql<boolean>`execution_id IN ${textsOf(db, ids)}`)
        .where('lease_owner', '<>', owner)
        .execute();
      return rows.map((row) => row.execution_id);
    },
    /** At most `limit` unfinished rows of this process whose next attempt is due, oldest first, after `after`. */
    unfinished(nowMs: number, limit: number, after?: Pick<JournalRow, 'created_ms' | 'execution_id'>) {
      let query = db
        .selectFrom('executions')
        .select(['execution_id', 'created_ms'])
        .where(IS_UNFINISHED)
        .where('lease_owner', '=', owner)
        .where('rest_until_ms', '<=', BigInt(nowMs));
      if (after) {
        query = query.where(sql<boolean>`(created_ms, execution_id) > (${after.created_ms}, ${after.execution_id})`);
      }
      return query.orderBy('created_ms').orderBy('execution_id').limit(limit).execute();
    },
  };
}

/** How the chain opened and ended an execution. Times are unix seconds, amounts base units. */
export interface IndexedEnd extends OpenedRecord {
  listing: string;
  /** Hex. */
  requestHash: string;
  /** The deposit that it was opened from; null if none. */
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
    .select(['listing', 'request_hash', 'deposit', 'status', 'opened_at', 'deadline', 'refund_at', 'fee_bps'])
    .select(['settled_at', 'creator_amount', 'platform_amount'])
    .where('execution_id', '=', id)
    .where('closed', '=', 1n)
    .executeTakeFirst();
  if (!row?.settled_at) return null;
  return {
    listing: row.listing,
    requestHash: row.request_hash,
    deposit: row.deposit,
    openedAt: row.opened_at,
    deadline: row.deadline,
    refundAt: row.refund_at,
    feeBps: Number(row.fee_bps),
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
