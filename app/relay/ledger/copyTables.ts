/** Copies the tables of ledger.db and index.db into PostgreSQL, and compares each of them. */
import { createHash, type Hash } from 'node:crypto';
import type Sqlite from 'better-sqlite3';
import { CompiledQuery, type Transaction } from 'kysely';
import { writeRows } from '../../database/bulk.ts';
import { SCHEMAS } from '../../database/postgres.ts';

/** Rows per statement and batch. The largest results have 5 MiB each, and a batch is in memory several times. */
const ROWS = 64;
const LONG_ROWS = 4;
const rowsOf = (table: string) => (table.endsWith('.results') ? LONG_ROWS : ROWS);
/** Leases, because no relay runs; sums and search words, because PostgreSQL computes them. */
const NOT_COPIED = /^(migrations|relays|leaderships|lent_sums|debts|document_words(_\w+)?)$/;
const EVENTS = `${SCHEMAS.ledger}.events`;
/** Tables whose next row PostgreSQL numbers on its own. */
const COUNTED = [
  [EVENTS, 'id'],
  [`${SCHEMAS.ledger}.webhook_deliveries`, 'id'],
  [`${SCHEMAS.index}.agents`, 'id'],
];

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

export type Target = Transaction<Record<string, never>>;
type Row = Record<string, unknown>;

/** The tables to copy, each with its columns and its primary key. Both databases read the rows in key order. */
export function tablesOf(sqlite: Sqlite.Database): Table[] {
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

export async function copyTable(
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
export async function readUnused(to: Target): Promise<boolean> {
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
export async function copyTimesOfDebts(from: Sqlite.Database, to: Target): Promise<void> {
  const debts = from.prepare('SELECT wallet, lost_ms FROM debts').all() as { wallet: string; lost_ms: bigint }[];
  const text = `UPDATE ${SCHEMAS.ledger}.debts AS d SET lost_ms = f.lost_ms
    FROM unnest($1::text[], $2::bigint[]) AS f (wallet, lost_ms) WHERE d.wallet = f.wallet`;
  const columns = [debts.map(({ wallet }) => wallet), debts.map(({ lost_ms }) => String(lost_ms))];
  await to.executeQuery(CompiledQuery.raw(text, columns));
}

/** Compares the sums that the triggers of both sides computed from the same executions. */
export async function compareSums(from: Sqlite.Database, to: Target): Promise<void> {
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
