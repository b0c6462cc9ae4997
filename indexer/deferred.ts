/**
 * Lists of executions need indexes and totals whose keys come in no order: to keep those up row by row costs more than all else
 * of a row, and ever more as they grow, to make them in the end of a long backfill a tenth. Until then the index is behind, and
 * these lists read and count the executions themselves.
 */
import { type Kysely, sql } from 'kysely';
import { MIGRATIONS, migrate } from '../app/database/migrate.ts';
import { openDatabase } from '../app/database/open.ts';
import { isPostgres } from '../app/database/portable.ts';
import { WITH_TOTALS } from './read.ts';
import type { IndexDatabase } from './tables.ts';

type Db = Kysely<IndexDatabase>;

const DEFERRED = [WITH_TOTALS, 'executions_by_listing_caller', 'executions_ended_by_listing'] as const;

/** Does without them until `restoreLists`. PostgreSQL keeps them: there others read the tables by their own means. */
export async function deferLists(db: Db): Promise<void> {
  if (isPostgres(db)) return;
  for (const name of DEFERRED) await sql`DROP INDEX IF EXISTS ${sql.ref(name)}`.execute(db);
}

/** Makes what is missing, indexes as the migrations have them. */
export async function restoreLists(db: Db): Promise<void> {
  if (isPostgres(db)) return;
  const names = sql.join(DEFERRED);
  const there = await sql<{ name: string }>`SELECT name FROM sqlite_master WHERE name IN (${names})`.execute(db);
  const missing = DEFERRED.filter((name) => !there.rows.some((row) => row.name === name));
  if (missing.length === 0) return;
  const texts = readTexts();
  for (const name of missing) {
    await db.transaction().execute(async (transaction) => {
      if (name === WITH_TOTALS) await makeTotals(transaction);
      await sql.raw(texts.get(name)!).execute(transaction);
    });
  }
}

/** In the order of their key, each listing's, then those of all listings. */
async function makeTotals(db: Db): Promise<void> {
  await db.deleteFrom('caller_totals').execute();
  await sql`INSERT INTO caller_totals (caller, listing, status, hour, executions)
    SELECT caller, listing, status, opened_at / 3600 AS hour, count(*) FROM executions
    GROUP BY caller, listing, status, hour`.execute(db);
  await sql`INSERT INTO caller_totals (caller, listing, status, hour, executions)
    SELECT caller, '', status, hour, sum(executions) FROM caller_totals
    GROUP BY caller, status, hour`.execute(db);
}

function readTexts(): Map<string, string> {
  const { sqlite, close } = openDatabase(':memory:');
  try {
    migrate(sqlite, MIGRATIONS.index);
    const rows = sqlite.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").all();
    return new Map((rows as { name: string; sql: string }[]).map(({ name, sql: text }) => [name, text]));
  } finally {
    close();
  }
}
