/**
 * Applies migrations. A migration is a file `NNNN_subject.sqlite.sql` and a file `NNNN_subject.pg.sql` with the same
 * number. Once applied anywhere, a file is never edited, not even its comments: every database stores the checksum of
 * each applied file.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { connectPostgres, lockNumber, type Schema } from './postgres.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations');

/** Folders with the migrations of each database. */
export const MIGRATIONS = { index: join(FOLDER, 'index'), ledger: join(FOLDER, 'ledger') } as const;

interface Applied {
  number: bigint;
  name: string;
  checksum: string;
}

interface Migration {
  number: bigint;
  name: string;
  sql: string;
  /** SHA-256 of the file, hex. */
  checksum: string;
}

const SELECT_APPLIED = 'SELECT number, name, checksum FROM migrations ORDER BY number';
const COLUMNS = 'number, name, checksum';

/**
 * Applies the files `NNNN_subject.sqlite.sql` of a folder that this database has not applied, in order, each in one
 * transaction. Throws if an applied file was edited or is missing, or if numbers repeat or are missing.
 */
export function migrate(sqlite: Sqlite.Database, folder: string): void {
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT',
  );
  const files = readMigrations(folder, '.sqlite.sql');
  const applyPending = sqlite.transaction(() => {
    const next = nextOf(sqlite.prepare(SELECT_APPLIED).all() as Applied[], files, sqlite.name, folder);
    if (!next) return false;
    // The row comes first, so that a file that fails leaves neither.
    sqlite.prepare(`INSERT INTO migrations (${COLUMNS}) VALUES (?, ?, ?)`).run(next.number, next.name, next.checksum);
    sqlite.exec(next.sql);
    return true;
  });
  while (applyPending.immediate()) {}
}

/** The same for a schema of PostgreSQL, created if missing. Processes that start together wait for each other. */
export async function migratePostgres(url: string, schema: Schema, folder: string): Promise<void> {
  const files = readMigrations(folder, '.pg.sql');
  const client = await connectPostgres(url, schema);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lockNumber('migrations')]);
    // Check first: CREATE needs rights even if the schema exists, and a read-only user lacks them.
    const { rows: known } = await client.query(`SELECT to_regclass('${schema}.migrations') IS NOT NULL AS is_there`);
    if (!known[0].is_there) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await client.query(
        'CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)',
      );
    }
    for (;;) {
      const { rows } = await client.query<Applied>(SELECT_APPLIED);
      const next = nextOf(rows, files, `the schema ${schema}`, folder);
      if (!next) return;
      await client.query('BEGIN');
      const values = [next.number, next.name, next.checksum];
      await client.query(`INSERT INTO migrations (${COLUMNS}) VALUES ($1, $2, $3)`, values);
      await client.query(next.sql);
      await client.query('COMMIT');
    }
  } finally {
    await client.end();
  }
}

/** The first file not yet applied. Throws as `migrate` does; `database` names it in the message. */
function nextOf(applied: Applied[], files: Migration[], database: string, folder: string): Migration | undefined {
  for (const [at, row] of applied.entries()) {
    const file = files[at];
    if (file?.number !== row.number)
      throw new Error(`${database} was made by a newer version: ${row.name} is not in ${folder}`);
    if (file.checksum !== row.checksum) {
      throw new Error(
        `${database} was made with another version of ${file.name}: use the version that made it, or a new database. Never edit an applied migration; add one`,
      );
    }
  }
  return files[applied.length];
}

function readMigrations(folder: string, ending: '.sqlite.sql' | '.pg.sql'): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort();
  return names.map((name, index) => {
    const number = index + 1;
    const expected = String(number).padStart(4, '0');
    if (!name.startsWith(`${expected}_`)) throw new Error(`${join(folder, name)} should be number ${expected}`);
    const sql = readFileSync(join(folder, name), 'utf8');
    return { number: BigInt(number), name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}
