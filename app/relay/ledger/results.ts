/** Results of executions: the creators' answers, kept from before the settle is signed until they expire. */
import { type Insertable, type Kysely, sql } from 'kysely';
import type { Named } from '../../database/prepared.ts';
import { IS_ENDED, type LedgerDatabase, type LedgerTables, type ResultRow } from './tables.ts';
import { JournalConflict, type Writing } from './writing.ts';

/** A new result. */
type NewResult = Omit<Insertable<LedgerTables['results']>, 'object_stored'>;

const WITHOUT_TEXT = [
  'execution_id',
  'size',
  'object_stored',
  'result_hash',
  'signature',
  'execution_signature',
  'tokens_used',
  'steps',
  'execution_time_ms',
  'token',
  'verified_ms',
] as const satisfies (keyof LedgerTables['results'])[];

/** The results of one journal. */
export function createResults({ writes, db, owner, compile }: Writing) {
  function result(id: string): Promise<ResultRow | undefined> {
    return db.selectFrom('results').selectAll().where('execution_id', '=', id).executeTakeFirst();
  }

  /** The statement that stores an answer, or returns the stored one. */
  function insert(row: NewResult) {
    const columns = Object.keys(row) as (keyof NewResult)[];
    const values = { ...row, owner };
    const query = (named: Named<typeof values>) =>
      db
        .insertInto('results')
        .columns(columns)
        .expression(
          db.selectNoFrom(columns.map((column) => sql`${named[column]}`.as(column))).where(
            sql<boolean>`EXISTS (SELECT 1 FROM executions WHERE execution_id = ${named.execution_id}
                AND lease_owner = ${named.owner})`,
          ),
        )
        // Changes nothing, but returns the existing row.
        .onConflict((conflict) =>
          conflict.column('execution_id').doUpdateSet((build) => ({ token: build.ref('results.token') })),
        )
        .returning(WITHOUT_TEXT);
    return compile(`storeResult ${columns.join()}`, values, query);
  }

  return {
    /**
     * Keeps an answer, and returns the stored one. A second, different answer for the same execution is never stored.
     * Throws JournalConflict if the execution is another relay's. Each answer has its own token. The text is read only
     * if the stored token is another one, because each copy blocks the event loop.
     */
    async storeResult(row: NewResult): Promise<ResultRow> {
      const { rows } = await writes.note(insert(row));
      const [stored] = rows as Omit<ResultRow, 'result'>[];
      if (!stored) throw new JournalConflict(`execution ${row.execution_id} belongs to another relay`);
      const text = stored.token === row.token ? row.result : (await result(row.execution_id))?.result;
      return { ...stored, result: text ?? null };
    },
    result,
  };
}

/** The location and hash of an execution's result, with the bytes if they are here. */
export function readStored(ledger: Kysely<LedgerTables> | Kysely<LedgerDatabase>, executionId: string) {
  return (ledger as Kysely<LedgerTables>)
    .selectFrom('results')
    .select(['execution_id', 'object_stored', 'result_hash', 'result'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}

/** Rows per query. */
const BATCH = 20;

/** Results of at least `minBytes` that are still in the ledger, of ended executions. */
export function readMovable(views: Kysely<LedgerDatabase>, minBytes: number) {
  return views
    .selectFrom('results')
    .innerJoin('executions as j', 'j.execution_id', 'results.execution_id')
    .select('results.execution_id')
    .where('results.result', 'is not', null)
    .where('results.size', '>=', BigInt(minBytes))
    .where(IS_ENDED)
    .limit(BATCH)
    .execute();
}

/** Marks a result as moved to the object storage. */
export async function markMoved(ledger: Kysely<LedgerTables>, executionId: string): Promise<void> {
  const change = { result: null, object_stored: 1n };
  await ledger.updateTable('results').set(change).where('execution_id', '=', executionId).execute();
}

/** Stored results from before `verifiedMs`, of ended executions that nobody disputes now. */
export function readExpired(views: Kysely<LedgerDatabase>, verifiedMs: number) {
  return views
    .selectFrom('results')
    .innerJoin('executions as j', 'j.execution_id', 'results.execution_id')
    .leftJoin('chain.executions as c', 'c.execution_id', 'results.execution_id')
    .select(['results.execution_id', 'results.object_stored'])
    .where(sql<boolean>`(results.result IS NOT NULL OR results.object_stored = 1)`)
    .where('results.verified_ms', '<', BigInt(verifiedMs))
    .where(IS_ENDED)
    .where(sql<boolean>`coalesce(c.status, '') <> 'disputed'`)
    .orderBy('results.verified_ms')
    .limit(BATCH)
    .execute();
}

/** Drops the text of a result. Only the hash, the signatures and the size stay. */
export async function dropResult(ledger: Kysely<LedgerTables>, executionId: string): Promise<void> {
  const change = { result: null, object_stored: 0n, steps: null };
  await ledger.updateTable('results').set(change).where('execution_id', '=', executionId).execute();
}
