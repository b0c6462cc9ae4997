/** The content of executions: what their callers sent and received, which they may delete. */
import { type Kysely, sql } from 'kysely';
import type { LedgerTables } from './tables.ts';

/** Replaces the message of an error, which may quote the request. */
const DELETED = 'Its caller deleted the content of this execution';

/**
 * Deletes task, parameters, result, steps, answers and the message of an error, in one transaction. Hashes, signatures,
 * amounts and the row itself stay. Changes nothing unless the execution has ended for good. An object of the storage
 * stays until the next run of `keepResults`, which finds the row expired; nobody can read it any more.
 */
export function deleteContent(ledger: Kysely<LedgerTables>, executionId: string, nowMs: number): Promise<void> {
  return ledger.transaction().execute(async (writes) => {
    const { numUpdatedRows } = await writes
      .updateTable('executions')
      .set({
        task: '',
        parameters: '{}',
        error_message: sql`CASE WHEN error_message IS NULL THEN NULL ELSE ${DELETED} END`,
        content_deleted_ms: BigInt(nowMs),
      })
      .where('execution_id', '=', executionId)
      .where(sql<boolean>`state IN ('settled', 'refunded', 'returned', 'void')`)
      .where('is_final', '=', 1n)
      .where('content_deleted_ms', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    await writes
      .updateTable('results')
      .set({ result: null, steps: null, verified_ms: 0n })
      .where('execution_id', '=', executionId)
      .execute();
    await writes.deleteFrom('answers').where('execution_id', '=', executionId).execute();
    await writes.deleteFrom('late_answers').where('execution_id', '=', executionId).execute();
    await writes.updateTable('failed_answers').set({ body: null }).where('execution_id', '=', executionId).execute();
  });
}

/** What decides if the content may be deleted. */
export function readContentStanding(ledger: Kysely<LedgerTables>, executionId: string) {
  return ledger
    .selectFrom('executions')
    .select(['wallet', 'state', 'is_final', 'content_deleted_ms'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}
