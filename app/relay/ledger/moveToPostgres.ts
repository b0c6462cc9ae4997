/**
 * `npm run relay -- migrate-to-postgres` copies ledger.db and index.db of a stopped deployment into the database of
 * DATABASE_URL, and marks the files as moved. All of it is one transaction, which reads and compares every table before
 * it commits. The result is everything or nothing. A repeated run changes nothing.
 */
import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import type { Command } from 'commander';
import { CompiledQuery, type Transaction } from 'kysely';
import type pg from 'pg';
import { writeRows } from '../../database/bulk.ts';
import { LockHeld, takeLock } from '../../database/lock.ts';
import { MIGRATIONS, migrate, migratePostgres } from '../../database/migrate.ts';
import { markMoved } from '../../database/moved.ts';
import { openDatabase } from '../../database/open.ts';
import { addressOf, lockNumber, openPostgres, SCHEMAS } from '../../database/postgres.ts';
import { createLeases } from './leases.ts';
import { type DatabasePlace, indexPath, ledgerLockPath, ledgerPath } from './open.ts';
import { createSharedLeases } from './sharedLeases.ts';
import type { LedgerTables } from './tables.ts';

/** Rows per statement and batch. The largest results have 5 MiB each, and a batch is in memory several times. */
const ROWS = 64;
const LONG_ROWS = 4;
const rowsOf = (table: string) => (/\.(results|late_answers)$/.test(table) ? LONG_ROWS : ROWS);
/** Leases, because no relay runs; sums and search words, because PostgreSQL computes them. */
const NOT_COPIED = /^(migrations|relays|leaderships|lent_sums|debts|document_words(_\w+)?)$/;
const EVENTS = `${SCHEMAS.ledger}.events`;
/** Tables whose next row PostgreSQL numbers on its own. */
const COUNTED = [
  [EVENTS, 'id'],
  [`${SCHEMAS.ledger}.webhook_deliveries`, 'id'],
  [`${SCHEMAS.index}.agents`, 'id'],
];
/** Our name when we read the leases of relays; no relay has it. */
const OURSELVES = 'migrate-to-postgres';

export interface MovedTable {
  /** With its schema. */
  table: string;
  rows: number;
  /** Rows that were not there before. */
  added: number;
  /** SHA-256 over all rows in key order, the same on both sides. */
  hash: string;
}

interface Table {
  name: string;
  columns: string[];
  /** Columns of the primary key; empty if the same row may exist twice. */
  key: string[];
}

type Target = Transaction<Record<string, never>>;
type Row = Record<string, unknown>;

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
  const indexer = takeAlone(`${paths.index}.lock`, ({ holder }) => `An indexer runs on ${paths.index}${holder}`);
  try {
    const relays = takeAlone(ledgerLockPath(dataDir), () => `A relay runs on ${paths.ledger}`);
    try {
      return await moveFiles(paths, url, report);
    } finally {
      relays.release();
    }
  } finally {
    indexer.release();
  }
}

function takeAlone(path: string, describe: (held: LockHeld) => string) {
  try {
    return takeLock(path);
  } catch (cause) {
    if (!(cause instanceof LockHeld)) throw cause;
    throw new Error(`${describe(cause)}: stop it first`);
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
    // Relays of an older version do not use the lock.
    const relays = await createLeases(files.ledger.sqlite, paths.ledger, OURSELVES).alive(Date.now());
    if (relays.length > 0) throw new Error(`A relay runs on ${paths.ledger}: stop it first`);
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

/** The tables to copy, each with its columns and its primary key. Both databases read the rows in key order. */
function tablesOf(sqlite: Sqlite.Database): Table[] {
  const names = sqlite
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .pluck()
    .all() as string[];
  return names
    .filter((name) => !NOT_COPIED.test(name))
    .map((name) => {
      const columns = sqlite.pragma(`table_info(${name})`) as { name: string; pk: bigint }[];
      const key = columns.filter(({ pk }) => pk > 0n).sort((a, b) => Number(a.pk - b.pk));
      return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
    });
}

async function copyTable(
  from: Sqlite.Database,
  to: Target,
  schema: string,
  { name, columns, key }: Table,
  { isUnused, report }: { isUnused: boolean; report: (table: string, rows: number) => void },
): Promise<MovedTable> {
  const table = `${schema}.${name}`;
  // Triggers have just written new events for the copied executions.
  if (isUnused && table === EVENTS) await to.executeQuery(CompiledQuery.raw(`DELETE FROM ${EVENTS}`));
  const before = await countOf(to, table);
  const hash = createHash('sha256');
  let rows = 0;
  let batch: unknown[][] = [];
  // Initial rows of migrations, such as a counter at 0, are overwritten. Rows of another deployment stay, and the
  // comparison fails on them.
  const set = isUnused ? columns.filter((column) => !key.includes(column)) : [];
  const target = { table, columns, ...(key.length > 0 && { conflict: { key, set } }) };
  // A table without a key has been copied completely, or not at all.
  const writes = key.length > 0 || before === 0;
  const write = async () => writes && writeRows(to, target, batch);
  const order = (key.length > 0 ? key : columns).join(', ');
  const read = from.prepare(`SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${order}`);
  for (const row of read.iterate() as IterableIterator<Row>) {
    addTo(hash, row, columns);
    batch.push(columns.map((column) => row[column]));
    rows += 1;
    if (batch.length < rowsOf(table)) continue;
    await write();
    batch = [];
    report(table, rows);
  }
  await write();
  report(table, rows);
  for (const [one, column] of COUNTED) {
    const text = `SELECT setval(pg_get_serial_sequence('${one}', '${column}'), coalesce(max(${column}), 0) + 1, false) FROM ${one}`;
    if (table === one) await to.executeQuery(CompiledQuery.raw(text));
  }
  const [count, wanted] = [await countOf(to, table), hash.digest('hex')];
  if (count !== rows || (await hashOf(to, table, columns, key)) !== wanted) {
    throw new Error(
      `${table} in PostgreSQL has ${count} rows after copying ${rows}, and they differ. The database was in use, or belongs to another deployment. Nothing was changed. Use an empty database.`,
    );
  }
  return { table, rows, added: rows - before, hash: wanted };
}

/** True if only migrations have written there. The first write of a relay is its call keys. */
async function readUnused(to: Target): Promise<boolean> {
  const counts = [
    'chain.chain_meta',
    'chain.events',
    'ledger.executions',
    'ledger.api_keys',
    'ledger.secrets',
    'ledger.call_keys',
  ];
  for (const table of counts) if ((await countOf(to, table)) > 0) return false;
  return true;
}

async function countOf(to: Target, table: string): Promise<number> {
  const { rows } = await to.executeQuery<{ count: bigint }>(
    CompiledQuery.raw(`SELECT count(*) AS count FROM ${table}`),
  );
  return Number(rows[0]?.count);
}

async function hashOf(to: Target, table: string, columns: string[], key: string[]): Promise<string> {
  const hash = createHash('sha256');
  const head = `SELECT ${columns.join(', ')} FROM ${table}`;
  const after = `WHERE (${key.join(', ')}) > (${key.map((_, at) => `$${at + 1}`).join(', ')})`;
  const tail = `ORDER BY ${(key.length > 0 ? key : columns).join(', ')} LIMIT ${rowsOf(table)}`;
  let last: Row | undefined;
  let read = 0;
  do {
    const values = last ? key.map((column) => last?.[column]) : [];
    const text = key.length > 0 ? `${head} ${last ? after : ''} ${tail}` : `${head} ${tail} OFFSET ${read}`;
    const { rows } = await to.executeQuery<Row>(CompiledQuery.raw(text, values));
    for (const row of rows) addTo(hash, row, columns);
    read += rows.length;
    last = rows.length < rowsOf(table) ? undefined : rows.at(-1);
  } while (last);
  return hash.digest('hex');
}

/** The JSON delimits each value and shows its type, so different rows add different bytes. */
function addTo(hash: Hash, row: Row, columns: string[]): void {
  const values = columns.map((column) => {
    const value = row[column];
    if (typeof value === 'bigint') return ['integer', String(value)];
    return Buffer.isBuffer(value) ? ['bytes', value.toString('base64')] : value;
  });
  hash.update(JSON.stringify(values));
}

/** Triggers add up the debts. When each wallet lost its last fee depends on the order of the losses, so it is copied. */
async function copyTimesOfDebts(from: Sqlite.Database, to: Target): Promise<void> {
  const debts = from.prepare('SELECT wallet, lost_ms FROM debts').all() as { wallet: string; lost_ms: bigint }[];
  const text = `UPDATE ${SCHEMAS.ledger}.debts AS d SET lost_ms = f.lost_ms
    FROM unnest($1::text[], $2::bigint[]) AS f (wallet, lost_ms) WHERE d.wallet = f.wallet`;
  const columns = [debts.map(({ wallet }) => wallet), debts.map(({ lost_ms }) => String(lost_ms))];
  await to.executeQuery(CompiledQuery.raw(text, columns));
}

/** Compares the sums that the triggers of both sides computed from the same executions. */
async function compareSums(from: Sqlite.Database, to: Target): Promise<void> {
  const texts = {
    lent_sums: 'SELECT kind AS name, sum(lamports) AS lamports FROM TABLE GROUP BY kind HAVING sum(lamports) <> 0',
    debts: "SELECT wallet AS name, lamports || ' ' || lost_ms AS lamports FROM TABLE",
  };
  const sums = (found: Row[]) => JSON.stringify(found.map((row) => [row.name, String(row.lamports)]));
  for (const [table, text] of Object.entries(texts)) {
    const ordered = `${text} ORDER BY 1`;
    const query = CompiledQuery.raw(ordered.replace('TABLE', `${SCHEMAS.ledger}.${table}`));
    const { rows } = await to.executeQuery<Row>(query);
    if (sums(rows) !== sums(from.prepare(ordered.replace('TABLE', table)).all() as Row[]))
      throw new Error(`The sums in ${table} differ between the two databases. Nothing was changed.`);
  }
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
