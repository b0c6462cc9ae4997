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
  /** Columns that order the rows. */
  key: readonly string[];
  /** The column that depends on when the row was read. */
  omit?: string;
}

const ACCOUNTS = (Object.keys(STORED) as StoredName[]).filter((table) => table !== 'cursor');

const TABLES: readonly HashedTable[] = [
  { name: 'events', key: ['slot', 'signature', 'event_index'], omit: 'applied_slot' },
  { name: 'eventless_transactions', key: ['slot', 'signature'] },
  // A leaf's slot is that of its transaction. Excluding it loses nothing, because the event has it too.
  ...ACCOUNTS.map((table) => ({ name: table, key: STORED[table].unique, omit: 'slot' })),
  { name: 'agent_statistics', key: ['listing'] },
  { name: 'caller_totals', key: ['caller', 'listing', 'status', 'day'] },
  { name: 'agent_days', key: ['listing', 'day', 'outcome', 'reason', 'time_ms'] },
];

/** SHA-256, lower-case hex. Reads all tables at one moment, so that a running indexer cannot change the result. */
export async function hashIndex(db: Kysely<IndexDatabase>): Promise<string> {
  const hash = createHash('sha256');
  await readTogether(db, async (transaction) => {
    for (const table of TABLES) {
      hash.update(`${table.name}\n`);
      for await (const row of readOrdered(transaction, table)) hash.update(`${lineOf(row, table.omit)}\n`);
    }
  });
  return hash.digest('hex');
}

async function* readOrdered(
  db: Kysely<IndexDatabase>,
  { name, key }: HashedTable,
): AsyncGenerator<Record<string, unknown>> {
  // Raw SQL is not translated: parameters are $1, $2 in PostgreSQL, and ? in SQLite.
  const parameters = key.map((_, at) => (isPostgres(db) ? `$${at + 1}` : '?')).join(', ');
  for (let last: Record<string, unknown> | undefined; ; ) {
    const where = last ? ` WHERE (${key.join(', ')}) > (${parameters})` : '';
    const text = `SELECT * FROM ${name}${where} ORDER BY ${key.join(', ')} LIMIT ${PAGE}`;
    const after = last;
    const values = after ? key.map((column) => after[column]) : [];
    const { rows } = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values));
    yield* rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

/** Drivers return integers as different types, and columns in different orders. */
function lineOf(row: Record<string, unknown>, omit: string | undefined): string {
  const columns = Object.keys(row).filter((column) => column !== omit);
  const values = columns.sort().map((column) => [column, row[column]]);
  return JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
