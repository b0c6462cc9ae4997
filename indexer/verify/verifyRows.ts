/** Checks rows that follow from others: leaves from executions, roots from leaves, statuses from disputes, figures. */
import { type Connection, PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { readTogether } from '../../app/database/portable.ts';
import {
  archiveLeaf,
  createArchiveRoot,
  readArchiveRoots,
  readArchiveTree,
  unclaimedLeaf,
} from '../../app/sdk/program/archive.ts';
import { findUnclaimed, ownAccount } from '../../app/sdk/program/program.ts';
import { decodeTokenAccount } from '../../app/sdk/wallet/tokenAccount.ts';
import { dayKey } from '../apply/agentDays.ts';
import { readWrongAgents } from '../apply/agents.ts';
import { hex } from '../apply/columns.ts';
import { callerKey, Figures } from '../apply/statistics.ts';
import { DISPUTED_STATUS } from '../apply/write.ts';
import { recordOf } from '../queries/record.ts';
import type { ArchiveRow, ExecutionRow, IndexDatabase, UnclaimedRefundRow } from '../queries/tables.ts';
import type { Difference } from './verified.ts';

/** Rows in memory at a time. */
const PAGE = 1_000;
/** Limit of getMultipleAccounts. */
const ACCOUNTS_PER_CALL = 100;

interface Sources {
  db: Kysely<IndexDatabase>;
  connection: Connection;
}

interface Checked {
  rows: number;
  differences: Difference[];
}

/** Compares every leaf with the row of its execution or refund, and each tree's root with the roots that its account keeps. */
export async function checkLeaves({ db, connection }: Sources): Promise<Checked> {
  const checked: Checked = { rows: 0, differences: [] };
  const archives = await db.selectFrom('archives').selectAll().orderBy('archive_index').execute();
  for (const archive of archives) await checkTree(db, connection, archive, checked);
  return checked;
}

async function checkTree(
  db: Kysely<IndexDatabase>,
  connection: Connection,
  { archive, tree }: ArchiveRow,
  checked: Checked,
): Promise<void> {
  const leaves = createArchiveRoot();
  for (let next = 0n; ; ) {
    const page = await readPage(db, tree, next);
    if (page.length === 0) break;
    for (const { table, key, leaf, leaf_index, made } of page) {
      if (made !== leaf) checked.differences.push(differ(table, key, 'leaf', leaf, made));
      if (leaf_index !== next) {
        checked.differences.push(differ(table, key, 'leaf_index', String(leaf_index), String(next)));
      }
      next = leaf_index + 1n;
      leaves.add(Buffer.from(leaf, 'hex'));
    }
    checked.rows += page.length;
  }
  const account = await connection.getAccountInfo(new PublicKey(tree), 'finalized');
  const made = hex(leaves.root());
  // The account of an empty tree keeps no root.
  const roots = account ? [...readArchiveRoots(account.data), readArchiveTree(account.data).root].map(hex) : [];
  if (!roots.includes(made)) checked.differences.push(differ('archives', archive, 'root', made, roots[0] ?? null));
}

/** A leaf as its row has it, and as its fields give it. */
interface CheckedLeaf {
  table: string;
  key: string;
  leaf_index: bigint;
  leaf: string;
  made: string;
}

/** The next leaves of a tree from this index on, in order. */
async function readPage(db: Kysely<IndexDatabase>, tree: string, first: bigint): Promise<CheckedLeaf[]> {
  const of = (table: 'archive_leaves') =>
    db.selectFrom(table).selectAll().where('tree', '=', tree).where('leaf_index', '>=', first).orderBy('leaf_index');
  const leaves = await of('archive_leaves').limit(PAGE).execute();
  const refunds = (await of('unclaimed_refunds' as 'archive_leaves')
    .limit(PAGE)
    .execute()) as unknown as UnclaimedRefundRow[];
  const records = leaves.map(({ record }) => record);
  const executions =
    records.length === 0 ? [] : await db.selectFrom('executions').selectAll().where('record', 'in', records).execute();
  const byRecord = new Map(executions.map((row) => [row.record, row as ExecutionRow]));
  const archived = leaves.map(({ record, leaf, leaf_index }): CheckedLeaf => {
    const row = byRecord.get(record);
    const made = row ? leafOf(row) : 'no row of the execution';
    return { table: 'archive_leaves', key: record, leaf_index, leaf, made };
  });
  const unclaimed = refunds.map(({ claim, leaf, leaf_index, ...row }): CheckedLeaf => {
    const refund = {
      source: new PublicKey(row.source),
      caller: new PublicKey(row.caller),
      amount: row.amount,
      unclaimedAt: row.unclaimed_at,
    };
    return { table: 'unclaimed_refunds', key: claim, leaf_index, leaf, made: hex(unclaimedLeaf(refund)) };
  });
  const all = [...archived, ...unclaimed].sort((one, other) => Number(one.leaf_index - other.leaf_index));
  return all.slice(0, PAGE);
}

/**
 * Compares unclaimed refunds with the chain: a claimed one has its account, and the program's account holds at least the
 * sum of the others. Anyone can send it more.
 */
export async function checkUnclaimed({ db, connection }: Sources): Promise<Difference[]> {
  const differences: Difference[] = [];
  let sum = 0n;
  for (let last = ''; ; ) {
    const page = await db
      .selectFrom('unclaimed_refunds')
      .select(['claim', 'amount', 'claimed_at'])
      .where('claim', '>', last)
      .orderBy('claim')
      .limit(ACCOUNTS_PER_CALL)
      .execute();
    if (page.length === 0) break;
    const claims = page.map(({ claim }) => new PublicKey(claim));
    const accounts = await connection.getMultipleAccountsInfo(claims, 'finalized');
    for (const [at, { claim, amount, claimed_at }] of page.entries()) {
      const isClaimed = ownAccount(accounts[at]) !== null;
      if (isClaimed !== (claimed_at !== null)) {
        const told = (value: boolean) => (value ? 'claimed' : 'unclaimed');
        differences.push(differ('unclaimed_refunds', claim, 'claimed_at', told(!isClaimed), told(isClaimed)));
      }
      if (claimed_at === null) sum += amount;
    }
    last = page.at(-1)!.claim;
  }
  const account = await connection.getAccountInfo(findUnclaimed(), 'finalized');
  const held = decodeTokenAccount(findUnclaimed(), account)?.amount ?? 0n;
  if (held < sum) {
    differences.push(differ('unclaimed_refunds', findUnclaimed().toBase58(), 'amount', `${sum}`, `${held}`));
  }
  return differences;
}

function leafOf(row: ExecutionRow): string {
  try {
    return hex(archiveLeaf(new PublicKey(row.record), recordOf(row)));
  } catch (error) {
    return (error as Error).message;
  }
}

/** Compares the status of each disputed execution with its dispute, read at one moment. */
export function checkDisputes(db: Kysely<IndexDatabase>): Promise<Difference[]> {
  return readTogether(db, async (transaction) => {
    const differences: Difference[] = [];
    for (let last = ''; ; ) {
      const page = await transaction
        .selectFrom('disputes as d')
        .innerJoin('executions as e', 'e.record', 'd.record')
        .select(['d.dispute', 'd.record', 'd.outcome', 'e.status', 'e.dispute_count'])
        .where('d.dispute', '>', last)
        .orderBy('d.dispute')
        .limit(PAGE)
        .execute();
      for (const { record, outcome, status, dispute_count } of page) {
        const wanted = DISPUTED_STATUS[outcome];
        if (status !== wanted) differences.push(differ('executions', record, 'status', status, wanted));
        if (dispute_count !== 1n) differences.push(differ('executions', record, 'dispute_count', '0', '1'));
      }
      if (page.length < PAGE) return differences;
      last = page.at(-1)!.dispute;
    }
  });
}

/** Compares the figures with the executions, and agents with the rows that they follow from, all read at one moment. */
export function checkFigures(db: Kysely<IndexDatabase>): Promise<Checked> {
  return readTogether(db, async (transaction) => {
    const figures = new Figures();
    for (let last = ''; ; ) {
      const page = await transaction
        .selectFrom('executions')
        .selectAll()
        .where('execution_id', '>', last)
        .orderBy('execution_id')
        .limit(PAGE)
        .execute();
      for (const row of page) figures.add(row as ExecutionRow, 1n);
      if (page.length < PAGE) break;
      last = page.at(-1)!.execution_id;
    }
    const statistics = await transaction.selectFrom('agent_statistics').selectAll().execute();
    const totals = await transaction.selectFrom('caller_totals').selectAll().execute();
    const days = await transaction.selectFrom('agent_days').selectAll().execute();
    const differences = [
      ...compare('agent_statistics', new Map(statistics.map((row) => [row.listing, row])), figures.agentStatistics()),
      ...compare('caller_totals', new Map(totals.map((row) => [callerKey(row), row])), figures.callers),
      ...compare('agent_days', new Map(days.map((row) => [dayKey(row), row])), figures.days),
      ...(await readWrongAgents(transaction)).map((listing) =>
        differ('agents', listing, null, 'another row', 'listing, badge and statistics'),
      ),
    ];
    return { rows: statistics.length + totals.length + days.length, differences };
  });
}

function compare(
  table: string,
  present: ReadonlyMap<string, object>,
  expected: ReadonlyMap<string, object>,
): Difference[] {
  const differences: Difference[] = [];
  for (const key of new Set([...present.keys(), ...expected.keys()])) {
    const row = present.get(key) as Record<string, unknown> | undefined;
    const wanted = expected.get(key) as Record<string, unknown> | undefined;
    if (!row || !wanted) {
      differences.push(differ(table, key, null, row ? 'a row' : 'no row', wanted ? 'executions' : 'no executions'));
      continue;
    }
    for (const [column, value] of Object.entries(wanted)) {
      if (row[column] !== value) differences.push(differ(table, key, column, String(row[column]), String(value)));
    }
  }
  return differences;
}

function differ(table: string, key: string, column: string | null, index: string, chain: string | null): Difference {
  return { table, key, column, index, chain };
}
