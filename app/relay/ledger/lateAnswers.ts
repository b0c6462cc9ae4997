/** The table of late answers: valid results that came after their deadline. */
import type { Kysely, Selectable } from 'kysely';
import type { LateAnswersTable, LedgerTables } from './tables.ts';

/** Keeps a late answer unless its execution has one. */
export async function insertLateAnswer(
  ledger: Kysely<LedgerTables>,
  answer: Selectable<LateAnswersTable>,
): Promise<void> {
  await ledger
    .insertInto('late_answers')
    .values(answer)
    .onConflict((conflict) => conflict.column('execution_id').doNothing())
    .execute();
}

/** Drops those that came before, unix ms. */
export async function dropLateAnswers(ledger: Kysely<LedgerTables>, beforeMs: number): Promise<void> {
  await ledger.deleteFrom('late_answers').where('received_ms', '<', BigInt(beforeMs)).execute();
}
