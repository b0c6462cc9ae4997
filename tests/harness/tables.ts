/**
 * The tables of a relay and its indexer, empty and open for writing and reading, on the database that DATABASE names: SQLite
 * files in a folder, or a PostgreSQL database of their own.
 */
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { createGroupCommit, type GroupCommit } from '../../app/database/groupCommit.ts';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { type OpenDatabase, openDatabase } from '../../app/database/open.ts';
import { createPostgresWrites, openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import type { LedgerDatabase, LedgerTables } from '../../app/relay/ledger/tables.ts';
import { openIndex } from '../../indexer/open.ts';
import type { IndexDatabase } from '../../indexer/tables.ts';
import { freshPostgres, onPostgres } from './postgres.ts';

export interface Tables {
  index: OpenDatabase<IndexDatabase>;
  ledger: OpenDatabase<LedgerTables>;
  views: OpenDatabase<LedgerDatabase>;
  writes: GroupCommit;
  /** The ledger's file; what uses it is of SQLite alone. */
  sqlite(): Sqlite.Database;
  close(): Promise<void>;
}

export async function openTables(folder: string): Promise<Tables> {
  return onPostgres ? openSchemas(await freshPostgres()) : openFiles(folder);
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
    sqlite() {
      throw new Error('this test is about SQLite');
    },
    async close() {
      await Promise.all([views, ledger, index].map((opened) => opened.close()));
    },
  };
}
