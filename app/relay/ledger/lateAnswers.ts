/** The table of late answers: valid results that came after their deadline. */
import type { Kysely } from 'kysely';
import type { LateAnswersTable, LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** The late answers of one journal. */
export function createLateAnswers({ writes, db }: Writing) {
  return {
    /** Keeps a late answer unless its execution has one. */
    async storeLateAnswer(answer: LateAnswersTable): Promise<void> {
      const insert = db.insertInto('late_answers').values(answer);
      await writes.note(insert.onConflict((conflict) => conflict.column('execution_id').doNothing()).compile());
    },
  };
}

/** Drops the late answers received before `beforeMs`, unix ms. */
export async function dropLateAnswers(ledger: Kysely<LedgerTables>, beforeMs: number): Promise<void> {
  await ledger.deleteFrom('late_answers').where('received_ms', '<', BigInt(beforeMs)).execute();
}
