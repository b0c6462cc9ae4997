/** SQL for both databases, and what differs between them. */
import { type Expression, type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import { lockNumber } from './postgres.ts';

/** True for PostgreSQL. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export const isPostgres = (db: Kysely<any>): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/** PostgreSQL's clock, unix milliseconds. */
export const POSTGRES_NOW_MS = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';
/** Neither database has the other's function. */
const SQLITE_NOW_MS = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The database's clock, shared by all its users, unix milliseconds. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export const nowMsOf = (db: Kysely<any>): RawBuilder<bigint> =>
  sql.raw(isPostgres(db) ? POSTGRES_NOW_MS : SQLITE_NOW_MS);

/** Runs all reads on one snapshot, so that a page and its total agree. In SQLite every transaction is a snapshot. */
export function readTogether<Tables, Answer>(
  views: Kysely<Tables>,
  read: (moment: Kysely<Tables>) => Promise<Answer>,
): Promise<Answer> {
  const transaction = views.transaction();
  return (isPostgres(views) ? transaction.setIsolationLevel('repeatable read') : transaction).execute(read);
}

/** The number of rows of a query. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export async function countRows(db: Kysely<any>, query: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{ total: bigint }>`SELECT count(*) AS total FROM (${query}) AS known`.execute(db);
  return Number(rows[0]!.total);
}

/** The sum of a query's column `amount`; 0 without rows. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export async function sumRows(db: Kysely<any>, query: Expression<unknown>): Promise<bigint> {
  const sum = sql`CAST(coalesce(sum(amount), 0) AS BIGINT)`;
  const { rows } = await sql<{ total: bigint }>`SELECT ${sum} AS total FROM (${query}) AS known`.execute(db);
  return rows[0]!.total;
}

/** True if a query, which has no LIMIT, has a row. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export async function hasRows(db: Kysely<any>, query: RawBuilder<unknown>): Promise<boolean> {
  return (await sql`${query} LIMIT 1`.execute(db)).rows.length > 0;
}

/**
 * Holds a lock while `run` reads and writes. In PostgreSQL, two parallel statements both see the state before the
 * other. SQLite has one writer and takes no lock, so there `run` must read and write in one statement.
 */
export function underLock<Tables, Answer>(
  db: Kysely<Tables>,
  lock: string,
  run: (locked: Kysely<Tables>) => Promise<Answer>,
): Promise<Answer> {
  if (!isPostgres(db)) return run(db);
  return db.transaction().execute(async (locked) => {
    await sql`SELECT pg_advisory_xact_lock(${lockNumber(lock)})`.execute(locked);
    return run(locked);
  });
}

/**
 * `(…)` after IN or NOT IN: any number of texts as one value, so that the statement's text stays the same. SQLite has
 * no arrays, and PostgreSQL no `json_each` of a text.
 */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export function textsOf(db: Kysely<any>, texts: readonly string[]): RawBuilder<string> {
  return isPostgres(db)
    ? sql<string>`(SELECT unnest(CAST(${texts} AS text[])))`
    : sql<string>`(SELECT value FROM json_each(${JSON.stringify(texts)}))`;
}

/** Bytes in an expression without a column type, where PostgreSQL would assume text. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export function bytesOf(db: Kysely<any>, bytes: Uint8Array): RawBuilder<Buffer> {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isPostgres(db) ? sql<Buffer>`CAST(${value} AS bytea)` : sql<Buffer>`${value}`;
}

/** True if the column is one of any number of integers. PostgreSQL uses an index for an array, not for a list of rows. */
// biome-ignore lint/suspicious/noExplicitAny: for any tables
export function isOneOf(db: Kysely<any>, column: string, integers: readonly bigint[]): RawBuilder<boolean> {
  return isPostgres(db)
    ? sql<boolean>`${sql.ref(column)} = ANY (CAST(${integers.map(String)} AS bigint[]))`
    : sql<boolean>`${sql.ref(column)} IN (SELECT value FROM json_each(${`[${integers.join()}]`}))`;
}
