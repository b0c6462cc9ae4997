/**
 * Compares the spending of each key: the grant on the chain, the grant in the index, and the executions that it paid
 * for.
 */
import { type Connection, PublicKey } from '@solana/web3.js';
import { type Kysely, sql } from 'kysely';
import { decodeOwn, type KeyGrant } from '../../sdk/program/program.ts';
import { formatUsdc } from '../../sdk/wire/usdc.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { Difference, DifferenceKind } from './compare.ts';

/** The maximum of accounts in one request. */
const PAGE = 100;

interface GrantRow {
  grant_address: string;
  wallet: string;
  key_id: string;
  revoked: bigint;
  total_spent: string;
  execution_count: bigint;
  /** Prices of its executions, base units: those without a refund, and those with one. */
  kept: bigint;
  refunded: bigint;
  executions: bigint;
}

/** Compares every existing grant. Memory holds one page and the differences. */
export async function checkKeys(deps: {
  connection: Connection;
  views: Kysely<LedgerDatabase>;
}): Promise<{ count: number; differences: Difference[] }> {
  const differences: Difference[] = [];
  let count = 0;
  for (let after = ''; ; ) {
    const rows = await readPage(deps.views, after);
    if (rows.length === 0) return { count, differences };
    count += rows.length;
    after = rows.at(-1)!.grant_address;
    const addresses = rows.map((row) => new PublicKey(row.grant_address));
    const accounts = await deps.connection.getMultipleAccountsInfo(addresses, 'finalized');
    const moved = await readMoved(deps.views, rows);
    for (const [at, row] of rows.entries()) {
      const found = compareKey(row, decodeOwn('KeyGrant', accounts[at]));
      if (!moved.has(row.grant_address)) differences.push(...found);
    }
  }
}

/**
 * Grants with their sums, of one moment, because the index writes related changes together. `max` takes the value of
 * the one grant in each group: PostgreSQL requires an aggregate, and SQLite would sort if it grouped by all columns.
 */
async function readPage(views: Kysely<LedgerDatabase>, after: string): Promise<GrantRow[]> {
  const { rows } = await sql<GrantRow>`
    SELECT grant_address, max(wallet) AS wallet, max(grants.key_id) AS key_id, max(revoked) AS revoked,
      max(total_spent) AS total_spent, max(execution_count) AS execution_count,
      coalesce(sum(price) FILTER (WHERE status <> 'refunded'), 0) AS kept,
      coalesce(sum(price) FILTER (WHERE status = 'refunded'), 0) AS refunded,
      count(execution_id) AS executions
    FROM (SELECT * FROM chain.grants WHERE closed = 0 AND grant_address > ${after} ORDER BY grant_address LIMIT ${PAGE})
      AS grants
    LEFT JOIN chain.executions AS paid
      ON paid.caller = wallet AND paid.key_id = grants.key_id AND paid.opened_at >= grants.created_at
    GROUP BY grant_address
    ORDER BY grant_address`.execute(views);
  return rows;
}

/** Keys that were used while their accounts were read. Their differences may be temporary. */
async function readMoved(views: Kysely<LedgerDatabase>, rows: GrantRow[]): Promise<Set<string>> {
  const addresses = rows.map((row) => row.grant_address);
  const now = await views
    .selectFrom('chain.grants')
    .select(['grant_address', 'total_spent', 'execution_count'])
    .where('grant_address', 'in', addresses)
    .execute();
  const figures = new Map(now.map((row) => [row.grant_address, `${row.total_spent} ${row.execution_count}`]));
  const isMoved = (row: GrantRow) => figures.get(row.grant_address) !== `${row.total_spent} ${row.execution_count}`;
  return new Set(rows.filter(isMoved).map((row) => row.grant_address));
}

function compareKey(row: GrantRow, grant: KeyGrant | null): Difference[] {
  const subject = `${row.wallet} ${row.key_id}`;
  const found: Difference[] = [];
  const differ = (kind: DifferenceKind, detail: string) => void found.push({ kind, subject, detail });
  if (grant === null) {
    differ('index_grant', 'the index has a grant that is not on the chain');
    return found;
  }
  const [spent, count] = [grant.totalSpent, grant.executionCount];
  if (String(spent) !== row.total_spent || count !== row.execution_count) {
    const indexed = `${formatUsdc(BigInt(row.total_spent))} USDC in ${row.execution_count} executions`;
    differ('index_grant', `the index has ${indexed}, the grant ${formatUsdc(spent)} USDC in ${count}`);
  }
  // A refund after the revocation does not reduce the spending of the grant.
  const most = grant.revoked ? row.kept + row.refunded : row.kept;
  if (spent < row.kept || spent > most) {
    differ('grant_spend', `the grant has spent ${formatUsdc(spent)} USDC, its executions ${formatUsdc(row.kept)} USDC`);
  }
  if (count !== row.executions)
    differ('grant_count', `the grant counts ${count} executions, the index has ${row.executions}`);
  return found;
}
