/** Follows ended rows until the chain can no longer roll their ends back. */
import { sql } from 'kysely';
import { textsOf } from '../../database/portable.ts';
import type { JournalRow } from './tables.ts';
import type { Writing } from './writing.ts';

/** Names the whole condition of executions_waiting: otherwise SQLite would read all executions in order of their ids. */
const HANDED_OVER = sql<string>`(SELECT execution_id FROM executions
  WHERE refund_state IN ('claimable', 'blocked', 'handed_over') AND refund_state = 'handed_over')`;

/** The unproven ends of one journal, and its ended rows with rent still lent. */
export function createFinality(writing: Writing) {
  return { ...createProofs(writing), ...createLentRent(writing) };
}

/** Ended rows whose end the finalized chain does not prove yet. */
function createProofs({ writes, db, owner }: Writing) {
  return {
    /**
     * Unproven rows that ended before `finalizedNow` (unix seconds), with no transaction that can still land at this
     * finalized height. Oldest first, after `after`.
     */
    unproven(
      finalizedHeight: bigint,
      finalizedNow: bigint,
      limit: number,
      after: Pick<JournalRow, 'created_ms' | 'execution_id'> | null = null,
    ) {
      return (
        db
          .selectFrom('executions')
          .select([
            'execution_id',
            'created_ms',
            'wallet',
            'deposit',
            'state',
            'settled_at',
            'open_signature',
            'settle_signature',
            'refund_signature',
          ])
          .where(sql<boolean>`state IN ('settled', 'refunded', 'returned', 'void') AND is_final = 0`)
          // The open of a void row could still land until open_before.
          .where(
            sql<boolean>`settled_at < ${finalizedNow} AND (state <> 'void' OR coalesce(open_before, 0) < ${finalizedNow})`,
          )
          .where(
            sql<boolean>`coalesce(open_last_valid_height, 0) < ${finalizedHeight}
              AND coalesce(pay_last_valid_height, 0) < ${finalizedHeight}
              AND coalesce(settle_last_valid_height, 0) < ${finalizedHeight}
              AND coalesce(refund_last_valid_height, 0) < ${finalizedHeight}`,
          )
          .$if(after !== null, (query) =>
            query.where(sql<boolean>`(created_ms, execution_id) > (${after?.created_ms}, ${after?.execution_id})`),
          )
          .orderBy('created_ms')
          .orderBy('execution_id')
          .limit(limit)
          .execute()
      );
    },
    /**
     * Marks these rows as final: the finalized chain shows how they ended before this moment, unix seconds. A row that
     * has continued since, such as a void row with a new call, stays unproven.
     */
    async proven(ids: string[], finalizedNow: bigint): Promise<void> {
      await db
        .updateTable('executions')
        .set({ is_final: 1n })
        .where('execution_id', 'in', textsOf(db, ids))
        .where(sql<boolean>`state IN ('settled', 'refunded', 'returned', 'void') AND settled_at < ${finalizedNow}`)
        .execute();
    },
    /** Intent: continues a row in this process, because the chain rolled its end back. */
    async takeBack(
      row: Pick<JournalRow, 'execution_id' | 'deposit' | 'state' | 'settle_signature' | 'refund_signature'>,
    ) {
      // Its deposit exists again. It is sent back, unless its open has landed after all.
      const isReturned = row.deposit !== null && (row.state === 'void' || row.state === 'returned');
      const isSettled = row.state === 'settled';
      const isSigned = (isSettled ? row.settle_signature : row.refund_signature) !== null;
      const before = isSettled ? ('verified' as const) : ('refunding' as const);
      await writes.intend(
        db
          .updateTable('executions')
          .set({
            state: isReturned ? 'returning' : isSigned ? before : 'parked',
            lease_owner: owner,
            ...(isSettled ? { creator_amount: null, platform_amount: null } : { refund_state: 'pending' as const }),
            settled_at: null,
          })
          .where('execution_id', '=', row.execution_id)
          .where('state', '=', row.state)
          .where('is_final', '=', 0n)
          .compile(),
      );
    },
  };
}

/**
 * Ended rows whose record or escrow account still holds rent. Each statement changes one row: the triggers of
 * `lent_sums` lock the sums of a row in a fixed order, and with several rows two transactions could wait for each other.
 */
function createLentRent({ db }: Writing) {
  return {
    /** Rows that ended before this moment (unix seconds) with rent still lent, in order of their ids. */
    lent(endedBefore: bigint, limit: number, after: string) {
      return db
        .selectFrom('executions')
        .select('execution_id')
        .where(sql<boolean>`record_lent > 0 AND state IN ('settled', 'refunded')`)
        .where('settled_at', '<', endedBefore)
        .where('execution_id', '>', after)
        .orderBy('execution_id')
        .limit(limit)
        .execute();
    },
    /** The records of these rows are gone, so their rent is back. */
    async rentReturned(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        await db.updateTable('executions').set({ record_lent: 0n }).where('execution_id', '=', id).execute();
      }
    },
    /** Rows whose escrow account was handed over and still existed when last read, in order of their ids. */
    handedOver(limit: number, after: string) {
      return db
        .selectFrom('executions')
        .select('execution_id')
        .where('execution_id', 'in', HANDED_OVER)
        .where('execution_id', '>', after)
        .orderBy('execution_id')
        .limit(limit)
        .execute();
    },
    /** The escrow accounts of these rows are gone, so their rent is back. */
    async escrowsClosed(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        await db
          .updateTable('executions')
          .set({ refund_state: 'done' })
          .where('execution_id', '=', id)
          .where('refund_state', '=', 'handed_over')
          .execute();
      }
    },
  };
}
