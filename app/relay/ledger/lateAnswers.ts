/** The table of late answers: valid results that came after their deadline. */
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { PIECE_BYTES } from '../longBytes.ts';
import { isLoose, NOTHING, type Pieces } from './pieces.ts';
import type { LateAnswersTable, LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** The late answers of one journal. */
export function createLateAnswers({ writes, db }: Writing, { storePieces }: Pieces) {
  return {
    /** Keeps a late answer unless its execution has one. */
    async storeLateAnswer(answer: Omit<LateAnswersTable, 'token'>): Promise<void> {
      const { execution_id: executionId, result: bytes } = answer;
      const isLong = bytes.length > PIECE_BYTES;
      const token = randomBytes(24).toString('base64url');
      const kept = isLong ? { ...answer, result: NOTHING, token } : { ...answer, token: null };
      const columns = Object.keys(kept) as (keyof LateAnswersTable)[];
      const values = db.selectNoFrom(columns.map((column) => sql`${kept[column]}`.as(column)));
      const row = db
        .insertInto('late_answers')
        .columns(columns)
        .expression(values.where(isLong ? isLoose(token) : sql<boolean>`true`))
        .onConflict((conflict) => conflict.column('execution_id').doNothing())
        .compile();
      if (isLong) await storePieces({ executionId, token, bytes, row });
      else await writes.note(row);
    },
  };
}

/** Drops the late answers received before `beforeMs`, unix ms. */
export async function dropLateAnswers(ledger: Kysely<LedgerTables>, beforeMs: number): Promise<void> {
  await ledger.deleteFrom('late_answers').where('received_ms', '<', BigInt(beforeMs)).execute();
}
