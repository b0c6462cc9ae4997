/** Rows that have not ended: whose they are, and when somebody should look at them again. */
import { sql } from 'kysely';
import { textsOf } from '../../database/portable.ts';
import { IS_UNFINISHED, type JournalRow } from './tables.ts';
import type { Writing } from './writing.ts';

/** The unfinished rows of one journal. */
export function createUnfinished({ db, owner }: Writing) {
  return {
    /** Let recovery leave the row alone until then. */
    async restUntil(id: string, untilMs: number): Promise<void> {
      await db
        .updateTable('executions')
        .set({ rest_until_ms: BigInt(untilMs) })
        .where('execution_id', '=', id)
        .where('lease_owner', '=', owner)
        .execute();
    },
    /** Leave every unfinished row of this process to whoever takes it. */
    async handOver(): Promise<void> {
      await db
        .updateTable('executions')
        .set({ lease_owner: null, rest_until_ms: 0n })
        .where(IS_UNFINISHED)
        .where('lease_owner', '=', owner)
        .execute();
    },
    /** Take every unfinished row whose owner is none of these. */
    async takeRowsOfOthersThan(alive: string[]): Promise<void> {
      const owners = textsOf(db, [owner, ...alive]);
      await db
        .updateTable('executions')
        .set({ lease_owner: owner, rest_until_ms: 0n })
        .where(IS_UNFINISHED)
        .where(sql<boolean>`(lease_owner IS NULL OR lease_owner NOT IN ${owners})`)
        .execute();
    },
    /**
     * A page of this process's rows that have not ended and do not rest, oldest first: those after `after`, or from the
     * oldest on.
     */
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
