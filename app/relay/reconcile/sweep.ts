/**
 * Compares every open record, every row of the journal and of the index, every key, and every deposit, page by page. It
 * writes nothing and holds no lock, so changes during the sweep look like differences. Every difference is checked again,
 * and only a lasting one counts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@solana/web3.js';
import { decodeOwn, findEscrow, findExecution, PROGRAM_ID, RECORD_OFFSETS } from '../../sdk/program/program.ts';
import { formatUuid, parseUuid } from '../../sdk/receipt/receipt.ts';
import { readToken } from '../chain/tokenAccounts.ts';
import { OPEN_RECORDS } from '../execution/records.ts';
import type { Databases } from '../ledger/tables.ts';
import { compareExecution, type Difference, type ExecutionViews, type Restored } from './compare.ts';
import { checkDeposits } from './deposits.ts';
import { checkKeys } from './keys.ts';

/** Executions per page: a record and an escrow each fill the 100 accounts of one request. */
const PAGE = 50;
/** More differences than anybody reads; the others are only counted. */
const MAX_LISTED = 1_000;
/** Time for relay and indexer to catch up with changes during the sweep. */
const PAUSE_MS = 2_000;
const PASSES = 3;

interface ReconcileDeps extends Pick<Databases, 'views'> {
  connection: Connection;
  /** Number of checks of a suspected difference, and the pause between them, ms. */
  passes?: number;
  pauseMs?: number;
  /** For a ledger that a backup has restored and that no relay has continued. */
  restored?: Restored;
}

export interface Reconciliation {
  agrees: boolean;
  open_records: number;
  /** Of all open records, base units. */
  escrow_total: bigint;
  journal_rows: number;
  index_rows: number;
  keys: number;
  /** At most 1,000 of them. */
  differences: Difference[];
  differences_total: number;
}

/** Compares everything. Throws if the node or a file cannot be read. */
export async function reconcile(deps: ReconcileDeps): Promise<Reconciliation> {
  let escrowTotal = 0n;
  const suspects = new Set<string>();
  let uncounted = 0;
  const sweep = async (ids: string[], countEscrow = false): Promise<void> => {
    for (const views of await readViews(deps, ids)) {
      if (countEscrow && views.record?.status === 'open') escrowTotal += views.escrow ?? 0n;
      if (differencesOf(deps, views).length === 0) continue;
      if (suspects.size < MAX_LISTED) suspects.add(views.executionId);
      else uncounted += 1;
    }
  };

  const open = await listOpen(deps.connection);
  for (let start = 0; start < open.length; start += PAGE) await sweep(open.slice(start, start + PAGE), true);
  const journalRows = await eachPage(deps, 'executions', sweep);
  const indexRows = await eachPage(deps, 'chain.executions', sweep);
  const keys = await checkKeys(deps);

  let executions: Difference[] = [];
  let wrongKeys = keys.differences;
  let deposits = await checkDeposits(deps, MAX_LISTED);
  for (
    let pass = 1;
    pass <= (deps.passes ?? PASSES) && suspects.size + wrongKeys.length + deposits.length > 0;
    pass += 1
  ) {
    await sleep(deps.pauseMs ?? PAUSE_MS);
    executions = await again(deps, suspects);
    if (wrongKeys.length > 0) wrongKeys = (await checkKeys(deps)).differences;
    if (deposits.length > 0) deposits = await checkDeposits(deps, MAX_LISTED);
  }
  const differences = [...executions, ...wrongKeys, ...deposits];
  const total = differences.length + uncounted;
  return {
    agrees: total === 0,
    open_records: open.length,
    escrow_total: escrowTotal,
    journal_rows: journalRows,
    index_rows: indexRows,
    keys: keys.count,
    differences: differences.slice(0, MAX_LISTED),
    differences_total: total,
  };
}

function differencesOf({ restored }: ReconcileDeps, views: DatedViews): Difference[] {
  const found = compareExecution(views);
  if (!restored || views.changedAt === null || views.changedAt < restored.to) return found;
  const others = found.filter(({ kind }) => !kind.startsWith('journal_'));
  if (others.length < found.length) restored.onLater(views.executionId);
  return others;
}

/** Ids of all open records. Only ids are requested, because nodes do not page this answer. */
async function listOpen(connection: Connection): Promise<string[]> {
  const found = await connection.getProgramAccounts(PROGRAM_ID, {
    commitment: 'finalized',
    dataSlice: { offset: RECORD_OFFSETS.executionId, length: 16 },
    filters: OPEN_RECORDS,
  });
  return found.map(({ account }) => formatUuid(account.data));
}

/** Passes all ids of a table, a page at a time; returns their number. */
async function eachPage(
  { views }: ReconcileDeps,
  table: 'executions' | 'chain.executions',
  pass: (ids: string[]) => Promise<void>,
): Promise<number> {
  let count = 0;
  for (let after = ''; ; ) {
    const rows = await views
      .selectFrom(table)
      .select('execution_id')
      .where('execution_id', '>', after)
      .orderBy('execution_id')
      .limit(PAGE)
      .execute();
    if (rows.length === 0) return count;
    await pass(rows.map((row) => row.execution_id));
    count += rows.length;
    after = rows.at(-1)!.execution_id;
  }
}

/** Checks the suspects once more, and clears those that agree now. */
async function again(deps: ReconcileDeps, suspects: Set<string>): Promise<Difference[]> {
  const found: Difference[] = [];
  const ids = [...suspects];
  for (let start = 0; start < ids.length; start += PAGE) {
    for (const views of await readViews(deps, ids.slice(start, start + PAGE))) {
      const differences = differencesOf(deps, views);
      if (differences.length === 0) suspects.delete(views.executionId);
      found.push(...differences);
    }
  }
  return found;
}

/** With the time of its open or its end, in Unix seconds of the chain; null if it is not in the index. */
type DatedViews = ExecutionViews & { changedAt: bigint | null };

/** The state of some executions on the chain, in the journal and in the index. */
async function readViews({ connection, views }: ReconcileDeps, ids: string[]): Promise<DatedViews[]> {
  const records = ids.map((id) => findExecution(parseUuid(id)!));
  const addresses = records.flatMap((record) => [record, findEscrow(record)]);
  const accounts = await connection.getMultipleAccountsInfo(addresses, 'finalized');
  const journal = await views
    .selectFrom('executions')
    .leftJoin('results', 'results.execution_id', 'executions.execution_id')
    .select(['executions.execution_id', 'wallet', 'listing', 'price', 'request_hash', 'state', 'creator_amount'])
    .select(['platform_amount', 'gas_lamports', 'record_lent', 'results.result_hash as stored_result_hash'])
    .where('executions.execution_id', 'in', ids)
    .execute();
  const index = await views
    .selectFrom('chain.executions')
    .select(['execution_id', 'caller', 'listing', 'price', 'request_hash', 'result_hash', 'status'])
    .select(['creator_amount', 'platform_amount', 'closed', 'opened_at', 'settled_at', 'key_id', 'deposit'])
    .where('execution_id', 'in', ids)
    .execute();
  const journalById = new Map(journal.map((row) => [row.execution_id, row]));
  const indexById = new Map(index.map((row) => [row.execution_id, row]));
  return ids.map((executionId, at) => {
    const [record, escrow] = [accounts[2 * at], accounts[2 * at + 1]];
    const indexed = indexById.get(executionId) ?? null;
    return {
      executionId,
      record: decodeOwn('ExecutionRecord', record),
      escrow: readToken(escrow)?.amount ?? null,
      journal: journalById.get(executionId) ?? null,
      index: indexed,
      changedAt: indexed && (indexed.settled_at ?? indexed.opened_at),
    };
  });
}
