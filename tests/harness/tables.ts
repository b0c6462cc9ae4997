/**
 * Empty tables of a relay and its indexer, open for writing and reading, on the database that DATABASE names: SQLite
 * files in a folder, or a new PostgreSQL database.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { createGroupCommit, type GroupCommit } from '../../app/database/groupCommit.ts';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { type OpenDatabase, openDatabase } from '../../app/database/open.ts';
import { createPostgresWrites, openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import type { LedgerDatabase, LedgerTables } from '../../app/relay/ledger/tables.ts';
import { openIndex } from '../../indexer/queries/open.ts';
import type { IndexDatabase } from '../../indexer/queries/tables.ts';
import { freshPostgres, onPostgres } from './postgres.ts';

export interface Tables {
  index: OpenDatabase<IndexDatabase>;
  ledger: OpenDatabase<LedgerTables>;
  views: OpenDatabase<LedgerDatabase>;
  writes: GroupCommit;
  /** Opens the ledger again, as another process would. */
  openAgain(): { db: Kysely<LedgerTables>; writes: GroupCommit; close(): Promise<void> };
  /** The ledger's SQLite file. For SQLite only. */
  sqlite(): Sqlite.Database;
  close(): Promise<void>;
}

/** `url` of a PostgreSQL that already has rows; a new one by default. */
export async function openTables(folder: string, url?: string): Promise<Tables> {
  return onPostgres ? openSchemas(url ?? (await freshPostgres())) : openFiles(folder);
}

function openFiles(folder: string): Tables {
  const [indexFile, ledgerFile] = [join(folder, 'index.db'), join(folder, 'ledger.db')];
  const index = openIndex(indexFile);
  const ledger = openDatabase<LedgerTables>(ledgerFile);
  migrate(ledger.sqlite, MIGRATIONS.ledger);
  const views = openDatabase<LedgerDatabase>(ledgerFile, { readonly: true, attach: { chain: indexFile } });
  return {
    index,
    ledger,
    views,
    writes: createGroupCommit(ledger.sqlite),
    openAgain() {
      const again = openDatabase<LedgerTables>(ledgerFile);
      return { db: again.db, writes: createGroupCommit(again.sqlite), close: async () => again.close() };
    },
    sqlite: () => ledger.sqlite,
    async close() {
      for (const database of [views, ledger, index]) database.close();
    },
  };
}

function openSchemas(url: string): Tables {
  const index = openPostgres<IndexDatabase>(url, { schema: SCHEMAS.index });
  const ledger = openPostgres<LedgerTables>(url, { schema: SCHEMAS.ledger });
  const views = openPostgres<LedgerDatabase>(url, { schema: SCHEMAS.ledger, readonly: true });
  return {
    index,
    ledger,
    views,
    writes: createPostgresWrites(ledger.pool, ledger.pool),
    openAgain() {
      const again = openPostgres<LedgerTables>(url, { schema: SCHEMAS.ledger });
      return { db: again.db, writes: createPostgresWrites(again.pool, again.pool), close: again.close };
    },
    sqlite() {
      throw new Error('this test is about SQLite');
    },
    async close() {
      await Promise.all([views, ledger, index].map((opened) => opened.close()));
    },
  };
}

/** Tables for the tests of a suite. With `each`, every test has its own. */
export function useTables({ each = false } = {}): Tables {
  const tables = {} as Tables;
  let folder: string;
  (each ? beforeEach : before)(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tables-'));
    Object.assign(tables, await openTables(folder));
  });
  (each ? afterEach : after)(async () => {
    await tables.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return tables;
}
