/** Rows that have not ended: whose they are, and when somebody should look at them again. */
import { type Kysely, sql } from 'kysely';
import { isPostgres, textsOf } from '../../database/portable.ts';
import { IS_UNFINISHED, type JournalRow, type LedgerDatabase } from './tables.ts';
import type { Writing } from './writing.ts';

/** Rows of one taking; the next follows half a second later. */
const TAKEN_AT_ONCE = 500;

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
    /**
     * Take unfinished rows whose owner is none of these, the oldest first and so many at most, so that several who take
     * share them. What another is taking at this moment is left to it.
     */
    async takeRowsOfOthersThan(alive: string[], limit = TAKEN_AT_ONCE): Promise<void> {
      const rows = db
        .selectFrom('executions')
        .select('execution_id')
        .where(IS_UNFINISHED)
        .where(sql<boolean>`(lease_owner IS NULL OR lease_owner NOT IN ${textsOf(db, [owner, ...alive])})`)
        .orderBy('created_ms')
        .limit(limit);
      await db
        .updateTable('executions')
        .set({ lease_owner: owner, rest_until_ms: 0n })
        .where('execution_id', 'in', isPostgres(db) ? rows.forUpdate().skipLocked() : rows)
        .execute();
    },
    /** Those of these rows that another process has taken. */
    async takenByOthers(ids: readonly string[]): Promise<string[]> {
      const rows = await db
        .selectFrom('executions')
        .select('execution_id')
        .where(sql<boolean>`execution_id IN ${textsOf(db, ids)}`)
        .where('lease_owner', '<>', owner)
        .execute();
      return rows.map((row) => row.execution_id);
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

/** Records that the index shows open, of which the ledger has no row or one that says that it never was. */
export async function readUnknownOpen(views: Kysely<LedgerDatabase>): Promise<string[]> {
  const rows = await views
    .selectFrom('chain.executions as c')
    .leftJoin('executions as j', 'j.execution_id', 'c.execution_id')
    // Literally, as the partial index has it.
    .where(sql<boolean>`c.status = 'open'`)
    .where((eb) => eb.or([eb('j.execution_id', 'is', null), eb('j.state', '=', 'void')]))
    .select('c.record')
    .execute();
  return rows.map(({ record }) => record);
}
