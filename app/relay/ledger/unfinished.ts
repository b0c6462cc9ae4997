/** Unfinished rows: their owners, and the time of their next attempt. */
import { sql } from 'kysely';
import { isPostgres, textsOf } from '../../database/portable.ts';
import { type ExecutionColumns, IS_UNFINISHED, type JournalRow } from './tables.ts';
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
     * Doubts the end of a row. Any relay then continues it, and it ends as its record says. The Idempotency-Key or the
     * payment id of a void row may have another call by now, so the row gives them up.
     */
    parkEnded: (row: Moved) => {
      const given = row.state === 'void' && { fingerprint: null, payment_id: null };
      return moveAnyones(row, { state: 'parked', ...NOT_ENDED, ...given });
    },
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
