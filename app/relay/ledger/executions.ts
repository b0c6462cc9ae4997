/** The table of executions as it is read: one row, and what the rows of a wallet or a listing add up to. */
import { type Kysely, sql } from 'kysely';
import type { ExecutionRow, LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** The row of this id, by a statement that is kept ready. */
export async function readExecutionRow(
  { db, compile }: Pick<Writing, 'db' | 'compile'>,
  id: string,
): Promise<ExecutionRow | undefined> {
  const query = () => db.selectFrom('executions').selectAll().where('execution_id', '=', id);
  return (await db.executeQuery(compile('get', [id], query))).rows[0];
}

/** What a wallet's executions that failed since then cost in network fees, lamports. */
export async function readLostFees(ledger: Kysely<LedgerTables>, wallet: string, sinceMs: number): Promise<bigint> {
  const { rows } = await sql<{ lost: bigint }>`
    SELECT coalesce(sum(lost_fees + CASE
      WHEN state IN ('refunding', 'refunded') AND error_code <> 'service_unavailable' THEN fees ELSE 0 END), 0) AS lost
    FROM executions WHERE wallet = ${wallet} AND created_ms > ${BigInt(sinceMs)}`.execute(ledger);
  return rows[0]!.lost;
}
