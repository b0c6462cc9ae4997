/** Results of executions: what a creator answered, kept for good from before its settle is signed. */
import { sql } from 'kysely';
import type { ResultRow } from './tables.ts';
import { JournalConflict, type Writing } from './writing.ts';

/** Results as one journal keeps them. */
export function createResults({ writes, db, owner, compile }: Writing) {
  return {
    /**
     * Keep an answer for good, and return the one that is kept: a second, different one for the same execution is never
     * taken. Throws JournalConflict where the execution is another relay's.
     */
    async storeResult(row: ResultRow): Promise<ResultRow> {
      const columns = Object.keys(row) as (keyof ResultRow)[];
      const query = () =>
        db
          .insertInto('results')
          .columns(columns)
          .expression(
            db
              .selectNoFrom(columns.map((column) => sql`${row[column]}`.as(column)))
              .where(
                sql<boolean>`EXISTS (SELECT 1 FROM executions WHERE execution_id = ${row.execution_id} AND lease_owner = ${owner})`,
              ),
          )
          // Changes nothing, and has the present row returned.
          .onConflict((conflict) =>
            conflict.column('execution_id').doUpdateSet((build) => ({ token: build.ref('results.token') })),
          )
          .returningAll();
      const values = [...Object.values(row), row.execution_id, owner];
      const { rows } = await writes.note(compile(`storeResult ${columns.join()}`, values, query));
      const [stored] = rows as ResultRow[];
      if (!stored) throw new JournalConflict(`execution ${row.execution_id} is another relay's`);
      return stored;
    },
    async result(id: string): Promise<ResultRow | undefined> {
      const query = () => db.selectFrom('results').selectAll().where('execution_id', '=', id);
      return (await db.executeQuery(compile('result', [id], query))).rows[0];
    },
  };
}

/** The statement that drops the result of a row that never paid. */
export function forgetResult({ db, compile }: Writing, id: string) {
  const voided = sql`SELECT execution_id FROM executions WHERE execution_id = ${id} AND state = 'void'`;
  return compile('forgetResult', [id], () => db.deleteFrom('results').where(sql<boolean>`execution_id = (${voided})`));
}
