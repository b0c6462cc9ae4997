/** Opens the ledger and the index: two SQLite files, or two schemas of one PostgreSQL. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createGroupCommit, type GroupCommit } from '../../database/groupCommit.ts';
import { requireLock, shareLock } from '../../database/lock.ts';
import { MIGRATIONS, migrate, migratePostgres } from '../../database/migrate.ts';
import { requireNotMoved } from '../../database/moved.ts';
import { type OpenDatabase, openDatabase } from '../../database/open.ts';
import {
  createPostgresWrites,
  LOCKING_CONNECTIONS,
  MAX_CONNECTIONS,
  openPostgres,
  SCHEMAS,
} from '../../database/postgres.ts';
import { createLeases, type Leases } from './leases.ts';
import { createSharedLeases } from './sharedLeases.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

/** The place of the tables: a folder or a URL. */
export interface DatabasePlace {
  dataDir: string;
  /** Null: SQLite files in the folder. */
  databaseUrl: string | null;
}

export interface OpenLedger {
  /** The journal's writes. */
  writes: GroupCommit;
  /** For writing, on the connections that `writes` uses too. */
  ledger: OpenDatabase<LedgerTables>;
  /** For reading, with the index. */
  views: OpenDatabase<LedgerDatabase>;
  leasesOf(owner: string): Leases;
  close(): Promise<void>;
}

/** The files in a data folder. */
export const ledgerPath = (dataDir: string) => join(dataDir, 'ledger.db');
export const indexPath = (dataDir: string) => join(dataDir, 'index.db');
/** All relays on the ledger share this lock. Its exclusive holder knows that no relay runs or starts. */
export const ledgerLockPath = (dataDir: string) => `${ledgerPath(dataDir)}.lock`;

/**
 * At 128 MiB of WAL the main thread must checkpoint, which blocks all requests. Little is left to do by then, because the
 * lease thread checkpoints twice a second.
 */
const CHECKPOINT_PAGES = 32_768;

/** Opens both, and migrates the ledger. Throws if no indexer has made an index. */
export function openLedger({ dataDir, databaseUrl }: DatabasePlace): Promise<OpenLedger> {
  return databaseUrl === null ? openFiles(dataDir) : openSchemas(databaseUrl);
}

async function openFiles(dataDir: string): Promise<OpenLedger> {
  const index = indexPath(dataDir);
  if (!existsSync(index)) throw new Error(`${index} does not exist. Start the indexer first (npm run indexer).`);
  const path = ledgerPath(dataDir);
  const lock = requireLock(
    ledgerLockPath(dataDir),
    (holder) =>
      `${path} is being moved to PostgreSQL or restored${holder}. Start when that has ended, after a move with DATABASE_URL.`,
    shareLock,
  );
  try {
    requireNotMoved(path);
    // One connection for all writes, so that none of them ever waits for another.
    const ledger = openDatabase<LedgerTables>(path);
    migrate(ledger.sqlite, MIGRATIONS.ledger);
    ledger.sqlite.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    const views = openDatabase<LedgerDatabase>(path, { readonly: true, attach: { chain: index } });
    return {
      writes: createGroupCommit(ledger.sqlite),
      ledger,
      views,
      leasesOf: (owner) => createLeases(ledger.sqlite, path, owner),
      async close() {
        for (const database of [views, ledger]) database.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openSchemas(url: string): Promise<OpenLedger> {
  await migratePostgres(url, SCHEMAS.ledger, MIGRATIONS.ledger);
  const views = await openViews({ dataDir: '', databaseUrl: url });
  const ledger = openPostgres<LedgerTables>(url, { schema: SCHEMAS.ledger });
  const openNotes = (max: number) =>
    openPostgres<LedgerTables>(url, { schema: SCHEMAS.ledger, synchronousCommit: 'off', max });
  const notes = openNotes(MAX_CONNECTIONS - LOCKING_CONNECTIONS);
  const locking = openNotes(LOCKING_CONNECTIONS);
  return {
    writes: createPostgresWrites(ledger.pool, notes.pool, locking.pool),
    ledger,
    views,
    leasesOf: (owner) => createSharedLeases(url, ledger.pool, owner),
    async close() {
      await Promise.all([views, ledger, notes, locking].map((opened) => opened.close()));
    },
  };
}

/** A schema of PostgreSQL that is not there yet. */
export class NoSchema extends Error {
  constructor(readonly schema: (typeof SCHEMAS)[keyof typeof SCHEMAS]) {
    const maker = schema === SCHEMAS.index ? 'the indexer first (npm run indexer)' : 'the relay first (npm run relay)';
    super(`The database has no schema ${schema}. Start ${maker}.`);
  }
}

/** Both for reading only. Throws if one of them is missing. */
export async function openViews({ dataDir, databaseUrl }: DatabasePlace): Promise<OpenDatabase<LedgerDatabase>> {
  if (databaseUrl === null) {
    const [path, index] = [ledgerPath(dataDir), indexPath(dataDir)];
    for (const file of [path, index]) {
      if (!existsSync(file)) throw new Error(`${file} does not exist. Set DATA_DIR to its folder.`);
    }
    return openDatabase<LedgerDatabase>(path, { readonly: true, attach: { chain: index } });
  }
  const views = openPostgres<LedgerDatabase>(databaseUrl, { schema: SCHEMAS.ledger, readonly: true });
  try {
    for (const schema of Object.values(SCHEMAS)) {
      const { rows } = await views.pool.query('SELECT to_regclass($1) AS found', [`${schema}.migrations`]);
      if (rows[0].found === null) throw new NoSchema(schema);
    }
    return views;
  } catch (error) {
    await views.close();
    throw error;
  }
}
