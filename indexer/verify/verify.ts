/**
 * Compares the tables with the chain: rows with accounts or leaves, accounts with rows, and figures with their rows. It
 * only reads, also while an indexer runs. It compares differing rows again for a while, because table and account are
 * read at different moments.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Kysely } from 'kysely';
import { chunks } from '../../app/process/chunks.ts';
import { accountDiscriminator } from '../../app/sdk/program/program.ts';
import type { IndexDatabase } from '../queries/tables.ts';
import { type Difference, readPage, VERIFIED, type Verified } from './verified.ts';
import { checkDisputes, checkFigures, checkLeaves, checkUnclaimed } from './verifyRows.ts';

export type { Difference } from './verified.ts';

interface VerifyOptions {
  db: Kysely<IndexDatabase>;
  connection: Connection;
  programId: PublicKey;
  /** Called after each table. */
  onProgress?(table: string, rows: number): void;
  /** How long differing rows are compared again. */
  patienceMs?: number;
}

export interface Verification {
  /** Number of compared rows. */
  rows: number;
  differences: Difference[];
}

/** A difference, for a person. */
export const describeDifference = ({ table, key, column, index, chain }: Difference): string =>
  `${table} ${key}${column === null ? '' : ` ${column}`}: ${index} in the index, ${chain} on the chain`;

const AGAIN_MS = 500;
const PATIENCE_MS = 10_000;

export async function verify(options: VerifyOptions): Promise<Verification> {
  const { db, onProgress, patienceMs = PATIENCE_MS } = options;
  let rows = 0;
  let differences: Difference[] = [];
  for (const table of VERIFIED) {
    let count = 0;
    for (let last = ''; ; ) {
      const page = await readPage(db, table, last);
      if (page.length === 0) break;
      differences.push(...(await compare(options, table, page)));
      count += page.length;
      last = table.keyOf(page.at(-1)!);
    }
    differences.push(...(await findUnlisted(options, table)));
    onProgress?.(table.name, count);
    rows += count;
  }
  const end = performance.now() + patienceMs;
  while (differences.length > 0 && performance.now() < end) {
    await delay(AGAIN_MS);
    differences = await compareAgain(options, differences);
  }
  const leaves = await checkLeaves(options);
  onProgress?.('archive_leaves and unclaimed_refunds', leaves.rows);
  const unclaimed = await checkUnclaimed(options);
  const disputes = await checkDisputes(db);
  const figures = await checkFigures(db);
  onProgress?.('agent_statistics, caller_totals, agent_days and agents', figures.rows);
  return {
    rows: rows + leaves.rows + figures.rows,
    differences: [...differences, ...leaves.differences, ...unclaimed, ...disputes, ...figures.differences],
  };
}

type Row = Record<string, unknown>;

/** Compares rows of one table with their accounts. */
export async function compare(
  options: Pick<VerifyOptions, 'connection' | 'programId'>,
  table: Verified,
  rows: readonly Row[],
): Promise<Difference[]> {
  const { connection, programId } = options;
  const wanted = rows.map((row) => table.accountsOf(row));
  const accounts = await connection.getMultipleAccountsInfo(wanted.flat(), 'finalized');
  const ours = accounts.map((account) => (account?.owner.equals(programId) ? account.data : null));
  return rows.flatMap((row, at) => {
    const width = wanted[at]!.length;
    const data = ours.slice(at * width, (at + 1) * width);
    const key = table.keyOf(row);
    const one = (column: string | null, index: unknown, chain: unknown): Difference => ({
      table: table.name,
      key,
      column,
      index: textOf(index),
      chain: textOf(chain),
    });
    const present = data.every((bytes) => bytes !== null);
    if (row.closed === 1n || !table.expected) return present ? [one(null, 'closed', 'there is an account')] : [];
    if (!present) return [one(null, 'open', 'there is no account')];
    const expected = table.expected(wanted[at]!, data as Buffer[]);
    const columns = Object.keys(expected).filter((column) => !table.elsewhere.includes(column));
    const shown = table.shown(row);
    return columns.flatMap((column) =>
      shown[column] === expected[column] ? [] : [one(column, shown[column], expected[column])],
    );
  });
}

/** Accounts without a row. */
async function findUnlisted(options: VerifyOptions, table: Verified): Promise<Difference[]> {
  if (!table.account) return [];
  const found = await options.connection.getProgramAccounts(options.programId, {
    commitment: 'finalized',
    dataSlice: { offset: 0, length: table.addressLength ?? 0 },
    filters: [{ memcmp: { offset: 0, bytes: bs58.encode(accountDiscriminator(table.account)) } }],
  });
  const keys = found.map(({ pubkey, account }) => (table.keyIn ? table.keyIn(account.data) : pubkey.toBase58()));
  const differences: Difference[] = [];
  for (const some of chunks(keys, table.rowsAtOnce)) {
    const known = new Set((await readPage(options.db, table, some)).map((row) => table.keyOf(row)));
    for (const key of some) {
      if (known.has(key)) continue;
      differences.push({ table: table.name, key, column: null, index: 'no row', chain: 'there is an account' });
    }
  }
  return differences;
}

async function compareAgain(options: VerifyOptions, before: readonly Difference[]): Promise<Difference[]> {
  const again: Difference[] = [];
  for (const table of VERIFIED) {
    const keys = [...new Set(before.flatMap((item) => (item.table === table.name ? item.key : [])))];
    for (const some of chunks(keys, table.rowsAtOnce)) {
      const rows = await readPage(options.db, table, some);
      if (rows.length > 0) again.push(...(await compare(options, table, rows)));
      const known = new Set(rows.map((row) => table.keyOf(row)));
      again.push(
        ...before.filter(({ table: name, key }) => name === table.name && some.includes(key) && !known.has(key)),
      );
    }
  }
  return again;
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
