/**
 * Applies migrations. A migration is a file `NNNN_subject.sql` in SQLite's words, which both databases run, then a file
 * `NNNN_subject.sqlite.sql` or `NNNN_subject.pg.sql` with what only one of them has; each may be missing. Once applied
 * anywhere, a migration is never edited, not even its comments: every database stores the checksum of each one. An older
 * release, which lacks it, starts on the database if it says that it can (OLDER_RUN), and refuses it otherwise.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { connectPostgres, lockNumber, type Schema } from './postgres.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'migrations');
const { version: RELEASE } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
/** A line of a migration that only adds: tables, indexes, and columns with a default. */
const OLDER_RUN = /^-- Older releases run on it\.$/m;

/** Folders with the migrations of each database. */
export const MIGRATIONS = { index: join(FOLDER, 'index'), ledger: join(FOLDER, 'ledger') } as const;

/** A row of the table `migrations`. */
export interface Applied {
  number: bigint;
  name: string;
  checksum: string;
  /** The release that applied it. */
  release: string;
  /** 1: releases that lack the file run on the database. */
  older_run: bigint;
}

type Kind = 'sqlite' | 'pg';

interface Migration {
  number: bigint;
  name: string;
  sql: string;
  /** SHA-256 of its files, hex. */
  checksum: string;
  olderRun: bigint;
}

const SELECT_APPLIED = 'SELECT * FROM migrations ORDER BY number';
const COLUMNS = 'number, name, checksum, release, older_run';
const valuesOf = (file: Migration) => [file.number, file.name, file.checksum, RELEASE, file.olderRun];

/**
 * Applies the migrations of a folder that this database has not applied, in order, each in one transaction. Throws if an
 * applied one was edited, if an older release cannot run on the database, or if numbers repeat or are missing.
 */
export function migrate(sqlite: Sqlite.Database, folder: string): void {
  sqlite.exec(
    `CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
      release TEXT NOT NULL, older_run INTEGER NOT NULL) STRICT`,
  );
  const files = readMigrations(folder, 'sqlite');
  const applyPending = sqlite.transaction(() => {
    const applied = sqlite.prepare(SELECT_APPLIED).all() as Applied[];
    const next = nextOf(applied, files, sqlite.name, folder);
    if (!next) return false;
    // The row comes first, so that a file that fails leaves neither.
    sqlite.prepare(`INSERT INTO migrations (${COLUMNS}) VALUES (?, ?, ?, ?, ?)`).run(valuesOf(next));
    sqlite.exec(next.sql);
    return true;
  });
  while (applyPending.immediate()) {}
}

/** The same for a schema of PostgreSQL, created if missing. Processes that start together wait for each other. */
export async function migratePostgres(url: string, schema: Schema, folder: string): Promise<void> {
  const files = readMigrations(folder, 'pg');
  const client = await connectPostgres(url, schema);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lockNumber('migrations')]);
    // Check first: CREATE needs rights even if the schema exists, and a read-only user lacks them.
    const { rows: known } = await client.query(`SELECT to_regclass('${schema}.migrations') IS NOT NULL AS is_there`);
    if (!known[0].is_there) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await client.query(
        `CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
          release TEXT NOT NULL, older_run BIGINT NOT NULL)`,
      );
    }
    for (;;) {
      const { rows } = await client.query<Applied>(SELECT_APPLIED);
      const next = nextOf(rows, files, `the schema ${schema}`, folder);
      if (!next) return;
      await client.query('BEGIN');
      await client.query(`INSERT INTO migrations (${COLUMNS}) VALUES ($1, $2, $3, $4, $5)`, valuesOf(next));
      await client.query(next.sql);
      await client.query('COMMIT');
    }
  } finally {
    await client.end();
  }
}

/** A migration that this release would apply. */
export type Pending = Pick<Migration, 'name' | 'olderRun'>;

/**
 * The migrations that this release would apply to a database with these rows. Throws as `migrate` does if it cannot run
 * on the database. Changes nothing.
 */
export function pendingOf(applied: Applied[], of: keyof typeof MIGRATIONS, kind: Kind, database: string): Pending[] {
  const files = readMigrations(MIGRATIONS[of], kind);
  nextOf(applied, files, database, MIGRATIONS[of]);
  return files.slice(applied.length);
}

/** What an operator can do with an index that this release cannot use. */
const FILL_AGAIN = 'move it away and start the indexer: it fills a new index from the chain';

/** The first file not yet applied. Throws as `migrate` does; `database` names it in the message. */
function nextOf(applied: Applied[], files: Migration[], database: string, folder: string): Migration | undefined {
  for (const [at, row] of applied.entries()) {
    const file = files[at];
    if (!file) {
      if (Number(row.older_run) === 1) continue;
      throw new Error(refusalOf(row, database, folder));
    }
    if (file.checksum !== row.checksum) {
      throw new Error(
        `${database} was made with another version of the migration ${file.name}: use the release that made it, or ${folder === MIGRATIONS.index ? FILL_AGAIN : 'a new database'}`,
      );
    }
  }
  return files[applied.length];
}

/** Says which release fits, and how to go on with this one. */
function refusalOf({ name, release }: Applied, database: string, folder: string): string {
  const by = release !== RELEASE ? `release ${release}` : 'a newer release';
  const back =
    folder === MIGRATIONS.index
      ? FILL_AGAIN
      : 'restore the backup made before the upgrade: npm run relay -- restore FILE';
  return `${database} was migrated by ${by}, which has the migration ${name}. This is release ${RELEASE}, which cannot use it. Start ${by}. To go back to ${RELEASE} instead, ${back}. See “Going back” in docs/deploying.md.`;
}

function readMigrations(folder: string, kind: Kind): Migration[] {
  const files = readdirSync(folder).filter((file) => /^\w+(\.sqlite|\.pg)?\.sql$/.test(file));
  const read = (file: string) => (files.includes(file) ? readFileSync(join(folder, file), 'utf8') : '');
  const names = new Set(files.map((file) => file.split('.')[0]!));
  return [...names].sort().map((name, index) => {
    const number = index + 1;
    const expected = String(number).padStart(4, '0');
    if (!name.startsWith(`${expected}_`)) throw new Error(`${join(folder, name)} should be number ${expected}`);
    const [both, own] = [read(`${name}.sql`), read(`${name}.${kind}.sql`)];
    const checksum = createHash('sha256').update(both).update(own).digest('hex');
    const sql = (kind === 'pg' ? inPostgres(both) : both) + own;
    return { number: BigInt(number), name, sql, checksum, olderRun: OLDER_RUN.test(sql) ? 1n : 0n };
  });
}

/** Text is ordered by its bytes, as in SQLite, whatever the locale of the database. */
const TYPES: Record<string, string> = {
  TEXT: 'TEXT COLLATE "C"',
  INTEGER: 'BIGINT',
  REAL: 'DOUBLE PRECISION',
  BLOB: 'BYTEA',
};

/** Replaces the types of columns, each on its own line, and the options of tables. */
function inPostgres(sql: string): string {
  return sql
    .replace(
      /(^ {2}|\bADD COLUMN )(\w+) (TEXT|INTEGER|REAL|BLOB)\b/gm,
      (_, before, name, type) => `${before}${name} ${TYPES[type]}`,
    )
    .replace(/ PRIMARY KEY AUTOINCREMENT\b/g, ' PRIMARY KEY')
    .replace(/^\) STRICT(, WITHOUT ROWID)?;$/gm, ');');
}
