/** The content of executions: what their callers sent and received, which they may delete. */
import { type Kysely, sql } from 'kysely';
import { IS_ENDED, type LedgerTables } from './tables.ts';

/** Replaces the message of an error, which may quote the request. */
const DELETED = 'Its caller deleted the content of this call';

/**
 * Deletes task, parameters, result, steps and the message of an error, in one transaction. Hashes, signatures,
 * amounts and the row itself stay. Changes nothing unless the execution has ended. An object in the storage becomes
 * unreadable at once. The next run of `keepResults` finds the row expired and deletes the object.
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
      .where(IS_ENDED)
      .where('content_deleted_ms', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    await writes
      .updateTable('results')
      .set({ result: null, steps: null, verified_ms: 0n })
      .where('execution_id', '=', executionId)
      .execute();
    await writes.updateTable('failed_answers').set({ body: null }).where('execution_id', '=', executionId).execute();
  });
}

/** The columns that decide if the content may be deleted. */
export function readContentState(ledger: Kysely<LedgerTables>, executionId: string) {
  return ledger
    .selectFrom('executions')
    .select(['wallet', 'state', 'content_deleted_ms'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}
