/**
 * Opens the SQLite files and brings them up to date. The indexer writes index.db; the relay opens its own file with the
 * same functions and attaches index.db as `chain` for reading.
 *
 * Every INTEGER column is a bigint in TypeScript, because amounts and slots are 64-bit. REAL columns are numbers.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { IndexDatabase } from '../../indexer/tables.ts';

export type * from '../../indexer/tables.ts';

/** Where index.db's migrations lie. */
export const INDEX_MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations', 'index');

/** Statements kept ready for each connection. */
const MAX_STATEMENTS = 200;

export interface OpenOptions {
  /** `full` survives a power cut, for what cannot be rebuilt; `normal` survives a crash of the process. */
  synchronous?: 'full' | 'normal';
  /** Refuses writes, also to attached files. The file must exist. */
  readonly?: boolean;
  /** Further files by schema name, for joins: `{ chain: 'index.db' }` makes `chain.listings` readable. */
  attach?: Record<string, string>;
}

export interface OpenedDatabase<Tables> {
  db: Kysely<Tables>;
  sqlite: Sqlite.Database;
  /** Closes the file. Nothing may run on `db` any more. */
  close(): void;
}

/**
 * Opens or creates a SQLite file in WAL mode, with foreign keys and a 5 s wait for another writer.
 *
 * `BEGIN IMMEDIATE` takes the write lock of every attached file too, so a connection that writes should attach nothing:
 * use a second, read-only one for joins.
 */
export function openDatabase<Tables>(path: string, options: OpenOptions = {}): OpenedDatabase<Tables> {
  if (!options.readonly) mkdirSync(dirname(path), { recursive: true });
  const sqlite = new Sqlite(path, { readonly: options.readonly ?? false, timeout: 5_000 });
  sqlite.defaultSafeIntegers(true);
  if (!options.readonly) {
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma(`synchronous = ${options.synchronous ?? 'normal'}`);
  }
  sqlite.pragma('foreign_keys = ON');
  for (const [schema, file] of Object.entries(options.attach ?? {})) {
    sqlite.prepare(`ATTACH DATABASE ? AS "${schema}"`).run(file);
  }
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: preparedOnce(sqlite) }) });
  return { db, sqlite, close: () => void sqlite.close() };
}

/** Kysely prepares each statement anew, which costs as much as running it; the same text gets the same statement here. */
function preparedOnce(sqlite: Sqlite.Database): Pick<Sqlite.Database, 'prepare' | 'close'> {
  const statements = new LRUCache<string, Sqlite.Statement>({ max: MAX_STATEMENTS });
  return {
    prepare: ((source: string) => {
      const known = statements.get(source);
      // A statement whose rows are still being read cannot be run a second time.
      if (known && !known.busy) return known;
      const statement = sqlite.prepare(source);
      statements.set(source, statement);
      return statement;
    }) as Sqlite.Database['prepare'],
    close: () => sqlite.close(),
  };
}

/** Opens index.db for writing and applies its migrations. */
export function openIndex(path: string): OpenedDatabase<IndexDatabase> {
  const opened = openDatabase<IndexDatabase>(path, { synchronous: 'normal' });
  try {
    migrate(opened.sqlite, INDEX_MIGRATIONS);
  } catch (error) {
    opened.close();
    throw error;
  }
  return opened;
}

/**
 * Applies the files `NNNN_subject.sqlite.sql` of a folder that this database has not seen, in order, each in one
 * transaction. Throws when a file that was applied has been edited or is gone, or when numbers repeat or are missing.
 */
export function migrate(sqlite: Sqlite.Database, folder: string): void {
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT',
  );
  const files = readMigrations(folder);
  const applyPending = sqlite.transaction(() => {
    const applied = sqlite.prepare('SELECT number, name, checksum FROM migrations ORDER BY number').all() as Applied[];
    for (const row of applied) {
      const file = files[Number(row.number) - 1];
      if (!file) throw new Error(`${sqlite.name} was made by a newer version: ${row.name} is not in ${folder}`);
      if (file.checksum !== row.checksum) {
        throw new Error(`${file.name} was edited after ${sqlite.name} had applied it; add a new migration instead`);
      }
    }
    const next = files[applied.length];
    if (!next) return false;
    // The row comes first, so that a file that fails half-way leaves neither.
    sqlite
      .prepare('INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)')
      .run(BigInt(applied.length + 1), next.name, next.checksum);
    sqlite.exec(next.sql);
    return true;
  });
  while (applyPending.immediate()) {}
}

interface Applied {
  number: bigint;
  name: string;
  checksum: string;
}

function readMigrations(folder: string): { name: string; sql: string; checksum: string }[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sqlite.sql'))
    .sort();
  return names.map((name, index) => {
    const expected = String(index + 1).padStart(4, '0');
    if (!name.startsWith(`${expected}_`)) throw new Error(`${join(folder, name)} should be number ${expected}`);
    const sql = readFileSync(join(folder, name), 'utf8');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}
