/** The table of failed answers: the answers of creators' servers in refunded calls, kept for the creators. */
import { type Kysely, sql } from 'kysely';
import type { LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** The end of a call to a creator. */
export interface FailedAnswer {
  /** From the first call to the answer, or to the deadline. */
  durationMs: number;
  /** The HTTP answer as it came, with the beginning of its body; null if none came. */
  raw: { status: number; body: Buffer; isCut: boolean } | null;
}

/** The failed answers of one journal. */
export function createFailedAnswers({ writes, db, owner }: Writing) {
  return {
    /** Keeps the answer in place of an earlier one, if the execution is ours. It reaches the disk with the next intent. */
    async storeFailedAnswer(id: string, { durationMs, raw }: FailedAnswer): Promise<void> {
      const row: LedgerTables['failed_answers'] = {
        execution_id: id,
        http_status: raw && BigInt(raw.status),
        body: raw?.body ?? null,
        is_cut: raw?.isCut ? 1n : 0n,
        duration_ms: BigInt(durationMs),
        answered_ms: BigInt(Date.now()),
      };
      const columns = Object.keys(row) as (keyof LedgerTables['failed_answers'])[];
      const insert = db
        .insertInto('failed_answers')
        .columns(columns)
        .expression(
          db
            .selectFrom('executions')
            .select(columns.map((column) => sql`${row[column]}`.as(column)))
            .where('execution_id', '=', id)
            .where('lease_owner', '=', owner),
        )
        .onConflict((conflict) => {
          const { execution_id, ...rest } = row;
          return conflict.column('execution_id').doUpdateSet(rest);
        });
      await writes.note(insert.compile());
    },
  };
}

/** Drops the bodies of answers that came before `beforeMs`, unix ms. Status and duration stay. */
export async function dropFailedBodies(ledger: Kysely<LedgerTables>, beforeMs: number): Promise<void> {
  await ledger
    .updateTable('failed_answers')
    .set({ body: null })
    .where('body', 'is not', null)
    .where('answered_ms', '<', BigInt(beforeMs))
    .execute();
}
