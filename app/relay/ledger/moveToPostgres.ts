/**
 * `npm run relay -- migrate-to-postgres` copies ledger.db and index.db of a stopped deployment into the database of
 * DATABASE_URL, and marks the files as moved. All of it is one transaction, which reads and compares every table before
 * it commits. The result is everything or nothing. A repeated run changes nothing.
 */
import { existsSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import type { Command } from 'commander';
import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { requireLock } from '../../database/lock.ts';
import { MIGRATIONS, migrate, migratePostgres } from '../../database/migrate.ts';
import { markMoved } from '../../database/moved.ts';
import { openDatabase } from '../../database/open.ts';
import { addressOf, lockNumber, openPostgres, SCHEMAS } from '../../database/postgres.ts';
import {
  compareSums,
  copyTable,
  copyTimesOfDebts,
  type MovedTable,
  readUnused,
  type Target,
  tablesOf,
} from './copyTables.ts';
import { type DatabasePlace, indexPath, ledgerLockPath, ledgerPath } from './open.ts';
import { createSharedLeases } from './sharedLeases.ts';
import type { LedgerTables } from './tables.ts';

/** Our name when we read the leases of relays; no relay has it. */
const OURSELVES = 'migrate-to-postgres';

/**
 * Copies, compares and commits. `report` gets each table and its rows so far. Throws, and leaves PostgreSQL unchanged,
 * if a process runs on either side, or if PostgreSQL has rows that the files lack.
 */
export async function moveToPostgres(
  dataDir: string,
  url: string,
  report: (table: string, rows: number) => void = () => undefined,
): Promise<MovedTable[]> {
  const paths = { ledger: ledgerPath(dataDir), index: indexPath(dataDir) };
  for (const path of Object.values(paths)) {
    if (!existsSync(path)) throw new Error(`${path} does not exist. Set DATA_DIR to its folder.`);
  }
  // Both locks are held until the end, so that neither an indexer nor a relay starts meanwhile.
  const indexer = requireLock(
    `${paths.index}.lock`,
    (holder) => `An indexer runs on ${paths.index}${holder}: stop it first`,
  );
  try {
    const relays = requireLock(ledgerLockPath(dataDir), () => `A relay runs on ${paths.ledger}: stop it first`);
    try {
      return await moveFiles(paths, url, report);
    } finally {
      relays.release();
    }
  } finally {
    indexer.release();
  }
}

type Paths = Record<'ledger' | 'index', string>;

async function moveFiles(
  paths: Paths,
  url: string,
  report: (table: string, rows: number) => void,
): Promise<MovedTable[]> {
  const files = { ledger: openDatabase(paths.ledger), index: openDatabase(paths.index) };
  try {
    for (const of of ['ledger', 'index'] as const) migrate(files[of].sqlite, MIGRATIONS[of]);
    for (const of of ['index', 'ledger'] as const) await migratePostgres(url, SCHEMAS[of], MIGRATIONS[of]);
    const leave = () => {
      for (const path of Object.values(paths)) markMoved(path, addressOf(url));
    };
    return await copy({ ledger: files.ledger.sqlite, index: files.index.sqlite }, url, { report, leave });
  } finally {
    for (const { close } of Object.values(files)) close();
  }
}

async function copy(
  files: { ledger: Sqlite.Database; index: Sqlite.Database },
  url: string,
  { report, leave }: { report: (table: string, rows: number) => void; leave: () => void },
): Promise<MovedTable[]> {
  const target = openPostgres<LedgerTables>(url, { schema: SCHEMAS.ledger, max: 2 });
  try {
    await requireNoRelay(url, target.pool);
    return await target.db.transaction().execute(async (transaction) => {
      const to = transaction as unknown as Target;
      const lock = `SELECT pg_try_advisory_xact_lock($1) AS taken`;
      const { rows } = await to.executeQuery<{ taken: boolean }>(CompiledQuery.raw(lock, [lockNumber('indexer')]));
      if (!rows[0]?.taken) throw new Error('An indexer runs on the PostgreSQL that DATABASE_URL names: stop it first');
      // A relay that starts now blocks on its first write, its call keys, before it touches money.
      const ledger = tablesOf(files.ledger).map(({ name }) => `${SCHEMAS.ledger}.${name}`);
      await to.executeQuery(CompiledQuery.raw(`LOCK TABLE ${ledger.join(', ')} IN EXCLUSIVE MODE`));
      await requireNoRelay(url, target.pool);
      const isUnused = await readUnused(to);
      const moved: MovedTable[] = [];
      for (const of of ['index', 'ledger'] as const) {
        for (const table of tablesOf(files[of])) {
          moved.push(await copyTable(files[of], to, SCHEMAS[of], table, { isUnused, report }));
        }
      }
      await copyTimesOfDebts(files.ledger, to);
      await compareSums(files.ledger, to);
      // Before the commit, because its outcome may stay unknown. Otherwise both sides could go on with the same money.
      leave();
      return moved;
    });
  } finally {
    await target.close();
  }
}

async function requireNoRelay(url: string, pool: pg.Pool): Promise<void> {
  if ((await createSharedLeases(url, pool, OURSELVES).alive(Date.now())).length > 0)
    throw new Error('A relay runs on the PostgreSQL that DATABASE_URL names: stop it first');
}

/** `readPlaces` returns the locations of both databases. It is called when the command runs. */
export function addMoveCommand(program: Command, readPlaces: () => DatabasePlace): void {
  program
    .command('migrate-to-postgres')
    .description(
      'Copies ledger.db and index.db of DATA_DIR into the PostgreSQL of DATABASE_URL and compares them. If anything fails, nothing is changed. Stop relay and indexer first; afterwards they no longer start with the files. You can repeat the command.',
    )
    .option('--json', 'print one JSON object and no progress')
    .action(async ({ json }: { json?: true }) => {
      const { dataDir, databaseUrl } = readPlaces();
      if (databaseUrl === null)
        throw new Error('DATABASE_URL is not set. Set it to the PostgreSQL database to copy to.');
      const shows = !json && process.stderr.isTTY;
      const tables = await moveToPostgres(dataDir, databaseUrl, (table, rows) => {
        if (shows) process.stderr.write(`\r${table}: ${rows} rows\u001b[K`);
      });
      if (shows) process.stderr.write('\r\u001b[K');
      if (json) console.log(JSON.stringify({ tables }));
      else {
        for (const { table, rows, added, hash } of tables)
          console.log(`${table}: ${rows} rows, ${added} of them new, sha256 ${hash}`);
        console.log('All tables are equal. From now on start relay and indexer with DATABASE_URL.');
      }
    });
}
