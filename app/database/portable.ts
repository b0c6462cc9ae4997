/** The few things that the two databases say differently. */
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import { lockNumber } from './postgres.ts';

/** Which of the two this is of. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever tables
export const isPostgres = (db: Kysely<any>): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/** PostgreSQL's clock, unix milliseconds. */
export const POSTGRES_NOW_MS = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';
const SQLITE_NOW_MS = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The database's clock, which all that use it share, unix milliseconds. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever tables
export const nowMsOf = (db: Kysely<any>): RawBuilder<bigint> =>
  sql.raw(isPostgres(db) ? POSTGRES_NOW_MS : SQLITE_NOW_MS);

/** Reads that are all of one moment, so that a page and its total agree; in SQLite every transaction is so. */
export function readTogether<Tables, Answer>(
  views: Kysely<Tables>,
  read: (moment: Kysely<Tables>) => Promise<Answer>,
): Promise<Answer> {
  const transaction = views.transaction();
  return (isPostgres(views) ? transaction.setIsolationLevel('repeatable read') : transaction).execute(read);
}

/**
 * Has `run` decide by what it reads and write it down beside nobody who names the same lock. In PostgreSQL two statements at
 * once each see what was there before the other; SQLite has one writer, and a statement of `run` that does both is alone.
 */
export function aloneOn<Tables, Answer>(
  db: Kysely<Tables>,
  lock: string,
  run: (alone: Kysely<Tables>) => Promise<Answer>,
): Promise<Answer> {
  if (!isPostgres(db)) return run(db);
  return db.transaction().execute(async (alone) => {
    await sql`SELECT pg_advisory_xact_lock(${lockNumber(lock)})`.execute(alone);
    return run(alone);
  });
}

/** `(…)` after IN or NOT IN: any number of texts as one value, so that the statement is the same for every number. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever tables
export function textsOf(db: Kysely<any>, texts: readonly string[]): RawBuilder<string> {
  return isPostgres(db)
    ? sql<string>`(SELECT unnest(CAST(${texts} AS text[])))`
    : sql<string>`(SELECT value FROM json_each(${JSON.stringify(texts)}))`;
}

/** Bytes where no column says that they are some: PostgreSQL takes what it does not know for text. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever tables
export function bytesOf(db: Kysely<any>, bytes: Uint8Array): RawBuilder<Buffer> {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isPostgres(db) ? sql<Buffer>`CAST(${value} AS bytea)` : sql<Buffer>`${value}`;
}
