/**
 * Opens SQLite files; postgres.ts does the same for PostgreSQL. The indexer writes index.db. The relay writes
 * ledger.db, and reads both over a second connection that attaches index.db as `chain`.
 *
 * Every INTEGER column is a bigint in TypeScript, because amounts and slots are 64-bit. REAL columns are numbers.
 *
 * Both files are opened with `synchronous=NORMAL`: a crash of the process loses nothing. A power cut may lose the last
 * commits, but the file stays consistent. This is enough for index.db, which can be rebuilt from the chain. The ledger
 * cannot be rebuilt, so every commit that somebody's money depends on uses `synchronous=FULL` (groupCommit.ts). It
 * waits for the disk and makes all earlier commits durable too.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { createPrepare, createRun, type Written } from './groupCommit.ts';

export interface OpenOptions {
  /** Every commit survives a power cut (`full`), or a crash of the process (`normal`, the default). */
  synchronous?: 'full' | 'normal';
  /** Refuses writes, also to attached files. The file must exist. */
  readonly?: boolean;
  /** Further files by schema name, for joins: `{ chain: 'index.db' }` makes `chain.listings` readable. */
  attach?: Record<string, string>;
}

/** An open database of either kind. */
export interface OpenDatabase<Tables> {
  db: Kysely<Tables>;
  /** Runs one statement. With SQLite it runs synchronously, while Kysely would wait for the event loop. */
  run(query: CompiledQuery): Written | Promise<Written>;
  /** Nothing may run on `db` after this. */
  close(): void | Promise<void>;
}

export interface OpenedDatabase<Tables> extends OpenDatabase<Tables> {
  sqlite: Sqlite.Database;
  run(query: CompiledQuery): Written;
  close(): void;
}

/**
 * Opens or creates a SQLite file in WAL mode, with foreign keys and a 5 s wait for another writer.
 *
 * `BEGIN IMMEDIATE` takes the write lock of every attached file too. So a connection that writes should attach nothing:
 * use a second, read-only one for joins.
 */
export function openDatabase<Tables>(path: string, options: OpenOptions = {}): OpenedDatabase<Tables> {
  if (!options.readonly && path !== ':memory:') makePrivate(path);
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
  // Kysely prepares a text on every run.
  const prepare = createPrepare(sqlite) as Sqlite.Database['prepare'];
  const dialect = new SqliteDialect({ database: { prepare, close: () => sqlite.close() } });
  const createDriver = dialect.createDriver.bind(dialect);
  dialect.createDriver = () => {
    const driver = createDriver();
    const rollback = driver.rollbackTransaction.bind(driver);
    // On a full disk SQLite itself undoes the transaction. Another rollback would fail and hide the reason.
    driver.rollbackTransaction = async (connection) => {
      if (sqlite.inTransaction) await rollback(connection);
    };
    return driver;
  };
  const db = new Kysely<Tables>({ dialect });
  return { db, sqlite, run: createRun(sqlite), close: () => void sqlite.close() };
}

/**
 * Creates a file and its folder if missing, readable by the owner only, whatever the folder's mode. SQLite gives its
 * other files the same mode. An existing file is not opened here: closing it would drop the locks of all connections of
 * this process.
 */
export function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  else if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}
