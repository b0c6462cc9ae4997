/** The table of answers: the final answer, in bytes, of each call that may be repeated. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { LedgerTables } from './tables.ts';

/** The answer of an execution that was given at `sinceMs` (unix ms) or later. */
export function readAnswer(
  ledger: Kysely<LedgerTables>,
  executionId: string,
  sinceMs: number,
): Promise<Omit<Selectable<LedgerTables['answers']>, 'execution_id' | 'answered_ms'> | undefined> {
  return ledger
    .selectFrom('answers')
    .select(['status', 'body', 'result_at'])
    .where('execution_id', '=', executionId)
    .where('answered_ms', '>=', BigInt(sinceMs))
    .executeTakeFirst();
}

/** Keeps an answer unless its execution has one, or its content was deleted; returns true if it was kept. */
export async function insertAnswer(
  ledger: Kysely<LedgerTables>,
  answer: { executionId: string; status: number; body: Buffer; resultAt: number | null; answeredMs: number },
): Promise<boolean> {
  const row = {
    execution_id: answer.executionId,
    status: BigInt(answer.status),
    body: answer.body,
    result_at: answer.resultAt === null ? null : BigInt(answer.resultAt),
    answered_ms: BigInt(answer.answeredMs),
  };
  const { numInsertedOrUpdatedRows: inserted } = await ledger
    .insertInto('answers')
    .columns(Object.keys(row) as (keyof typeof row)[])
    .expression(
      ledger
        .selectFrom('executions')
        .select(Object.entries(row).map(([name, value]) => sql`${value}`.as(name)))
        .where('execution_id', '=', answer.executionId)
        .where('content_deleted_ms', 'is', null),
    )
    .onConflict((conflict) => conflict.column('execution_id').doNothing())
    .executeTakeFirst();
  return inserted === 1n;
}

/** Drops the answers given before `beforeMs`, unix ms. */
export async function dropAnswers(ledger: Kysely<LedgerTables>, beforeMs: number): Promise<void> {
  await ledger.deleteFrom('answers').where('answered_ms', '<', BigInt(beforeMs)).execute();
}
