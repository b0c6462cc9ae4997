/**
 * Computes one hash over all rows that follow from the chain. It is equal wherever the same transactions were applied,
 * by logs or by accounts. It excludes the cursor, other progress, `agents`, which follow from the other rows, and the
 * slots of account readings (`slot` of the rows).
 */
import { createHash } from 'node:crypto';
import { CompiledQuery, type Kysely } from 'kysely';
import { isPostgres, readTogether } from '../../app/database/portable.ts';
import { STORED, type StoredName } from '../apply/stored.ts';
import type { IndexDatabase } from '../queries/tables.ts';

/** Rows in memory at a time. */
const PAGE = 5_000;

interface HashedTable {
  name: string;
  columns: readonly string[];
  /** Columns that order the rows. */
  key: readonly string[];
}

const ACCOUNTS = (Object.keys(STORED) as StoredName[]).filter((table) => table !== 'cursor');

const TABLES: readonly HashedTable[] = [
  {
    name: 'events',
    columns: ['signature', 'event_index', 'slot', 'name', 'data'],
    key: ['slot', 'signature', 'event_index'],
  },
  { name: 'eventless_transactions', columns: ['signature', 'slot'], key: ['slot', 'signature'] },
  ...ACCOUNTS.map((table) => ({
    name: STORED[table].name,
    // A leaf's slot is that of its transaction. Excluding it loses nothing, because the event has it too.
    columns: STORED[table].columns.filter((column) => column !== 'slot'),
    key: STORED[table].unique,
  })),
  {
    name: 'agent_statistics',
    columns: [
      'listing',
      'total_executions',
      'successful_executions',
      'success_rate',
      'avg_execution_time_ms',
      'dispute_count',
      'earned',
      'ended_executions',
    ],
    key: ['listing'],
  },
  {
    name: 'caller_totals',
    columns: ['caller', 'listing', 'status', 'day', 'executions'],
    key: ['caller', 'listing', 'status', 'day'],
  },
  {
    name: 'agent_days',
    columns: ['listing', 'day', 'outcome', 'reason', 'time_ms', 'executions', 'earned'],
    key: ['listing', 'day', 'outcome', 'reason', 'time_ms'],
  },
];

/** SHA-256, lower-case hex. Reads all tables at one moment, so that a running indexer cannot change the result. */
export async function hashIndex(db: Kysely<IndexDatabase>): Promise<string> {
  const hash = createHash('sha256');
  await readTogether(db, async (transaction) => {
    for (const table of TABLES) {
      hash.update(`${table.name}\n`);
      for await (const row of readOrdered(transaction, table)) hash.update(`${lineOf(row, table.columns)}\n`);
    }
  });
  return hash.digest('hex');
}

async function* readOrdered(
  db: Kysely<IndexDatabase>,
  { name, columns, key }: HashedTable,
): AsyncGenerator<Record<string, unknown>> {
  // Raw SQL is not translated: parameters are $1, $2 in PostgreSQL, and ? in SQLite.
  const parameters = key.map((_, at) => (isPostgres(db) ? `$${at + 1}` : '?')).join(', ');
  const names = [...new Set([...key, ...columns])].join(', ');
  for (let last: Record<string, unknown> | undefined; ; ) {
    const where = last ? ` WHERE (${key.join(', ')}) > (${parameters})` : '';
    const text = `SELECT ${names} FROM ${name}${where} ORDER BY ${key.join(', ')} LIMIT ${PAGE}`;
    const after = last;
    const values = after ? key.map((column) => after[column]) : [];
    const { rows } = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values));
    yield* rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

/** Drivers return integers as different types; decimal text makes them equal. */
function lineOf(row: Record<string, unknown>, columns: readonly string[]): string {
  return JSON.stringify(columns.map((column) => (typeof row[column] === 'bigint' ? String(row[column]) : row[column])));
}
