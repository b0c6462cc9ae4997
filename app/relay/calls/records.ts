/**
 * Executions as callers read them: the relay's journal joined with the chain's records. The journal is ahead for what
 * has just happened, the chain is right about what has ended, and what is only on-chain is shown from there.
 */
import { sql } from 'kysely';
import { findExecution } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import {
  ERRORS,
  type ErrorCode,
  type ExecutionFull,
  type ExecutionPage,
  type ExecutionStatus,
  type ExecutionSummary,
  type ExecutionsQuery,
} from '../../sdk/wire/wire.ts';
import type { Documents } from '../agents/documents.ts';
import { ApiError } from '../errors.ts';
import { addressUrl, transactionUrl } from '../explorer.ts';
import { type InParts, type Parts, quoteText } from '../json.ts';
import type { RefundState } from '../ledger/tables.ts';
import { archiveOf } from './archived.ts';
import { isCommitted, type ResultsDeps, resultUrl } from './results.ts';

export interface RecordsDeps extends ResultsDeps {
  documents: Documents;
  /** `''` or `?cluster=...`: what follows a path of Solana Explorer. */
  explorerQuery: string;
  /** Public address without a trailing slash. */
  baseUrl(): string;
}

/** One execution, whichever of the two tables know it. Times are unix seconds, amounts base units. */
interface ExecutionView {
  execution_id: string;
  record: string | null;
  listing: string;
  metadata_hash: string | null;
  status: ExecutionStatus;
  initiated_at: bigint;
  completed_at: bigint | null;
  cost: bigint;
  creator_amount: bigint;
  platform_amount: bigint;
  execution_time_ms: bigint | null;
  settled: bigint;
  refunded: bigint;
  result_hash: string | null;
  chain_status: string | null;
  reason: bigint | null;
  /** Of the transaction that archived it. */
  archived_by: string | null;
  /** The journal's; null where the chain is all we have. */
  state: string | null;
  refund_state: RefundState | null;
  error_code: string | null;
  error_message: string | null;
}

/**
 * The wallet's executions. A journal row is `j`, a record `c`; an execution that is only accepted has no transaction
 * yet and nobody knows its id. An open that may still land counts as running, and costs nothing until it is known. A
 * refund on its way counts as running too, because what is shown as ended must not change again; one that waits for
 * the caller's own account is shown as failed, or nobody would mend that account.
 */
function executionsOf(wallet: string) {
  const columns = sql`
    c.record AS record,
    CASE
      WHEN c.status IN ('disputed', 'dispute_upheld') THEN 'disputed'
      WHEN c.status = 'completed' THEN 'completed'
      WHEN c.status = 'refunded' THEN 'failed'
      WHEN j.state = 'settled' THEN 'completed'
      WHEN j.state IN ('refunded', 'void') THEN 'failed'
      WHEN j.state IN ('refunding', 'parked') AND j.refund_state IN ('claimable', 'blocked') THEN 'failed'
      WHEN j.state IN ('open_signed', 'dispatched', 'verified', 'refunding', 'parked') THEN 'running'
      ELSE 'pending'
    END AS status,
    coalesce(c.opened_at, j.opened_at, j.accepted_at) AS initiated_at,
    coalesce(c.settled_at, j.settled_at) AS completed_at,
    CASE
      WHEN c.status = 'refunded' OR (j.state IN ('refunded', 'void') AND coalesce(c.status, 'open') = 'open') THEN 0
      WHEN c.execution_id IS NULL AND j.opened_at IS NULL THEN 0
      ELSE coalesce(c.price, j.price)
    END AS cost,
    CASE WHEN coalesce(c.status, 'open') = 'open' THEN coalesce(j.creator_amount, 0) ELSE c.creator_amount END
      AS creator_amount,
    CASE WHEN coalesce(c.status, 'open') = 'open' THEN coalesce(j.platform_amount, 0) ELSE c.platform_amount END
      AS platform_amount,
    coalesce(c.execution_time_ms, j.execution_time_ms) AS execution_time_ms,
    (coalesce(c.status, 'open') IN ('completed', 'disputed', 'dispute_upheld')
      OR (coalesce(c.status, 'open') = 'open' AND coalesce(j.state, '') = 'settled')) AS settled,
    (coalesce(c.status, 'open') = 'refunded'
      OR (coalesce(c.status, 'open') = 'open' AND coalesce(j.state, '') = 'refunded')) AS refunded,
    c.result_hash AS result_hash,
    c.status AS chain_status,
    coalesce(c.reason, j.refund_reason) AS reason,
    (SELECT signature FROM chain.archive_leaves AS l WHERE l.execution_id = c.execution_id) AS archived_by,
    j.state AS state,
    c.execution_id IS NULL AS is_ahead,
    c.opened_slot AS opened_slot,
    c.open_index AS open_index,
    j.created_ms AS created_ms,
    j.refund_state AS refund_state,
    j.error_code AS error_code,
    j.error_message AS error_message`;
  return sql<ExecutionView>`(
    SELECT j.execution_id AS execution_id, j.listing AS listing, j.metadata_hash AS metadata_hash, ${columns}
    FROM executions AS j LEFT JOIN chain.executions AS c ON c.execution_id = j.execution_id
    WHERE j.wallet = ${wallet} AND j.state <> 'accepted'
    UNION ALL
    SELECT c.execution_id, c.listing, NULL, ${columns}
    FROM chain.executions AS c
    LEFT JOIN executions AS j ON j.execution_id = c.execution_id AND j.state <> 'accepted'
    WHERE c.caller = ${wallet} AND j.execution_id IS NULL
  )`;
}

/** GET /v1/executions/{execution_id} for its caller. Throws ApiError 404 for anyone else's, as for none. */
export async function getExecution(
  deps: RecordsDeps,
  wallet: string,
  executionId: string,
): Promise<InParts<ExecutionFull>> {
  const known = parseUuid(executionId) ? executionId : '';
  const { rows } = await sql<ExecutionView>`
    SELECT * FROM ${executionsOf(wallet)} AS executions WHERE execution_id = ${known}`.execute(deps.views);
  const row = rows[0];
  if (!row) throw new ApiError('execution_not_found', 'There is no execution with this execution_id');
  return toFull(deps, row, (await agentNames(deps, [row])).get(row.listing) ?? null);
}

/**
 * Newest first. Within a second the chain's order counts, which what the index does not know yet comes after; then the
 * order in which the relay took them.
 */
const NEWEST_FIRST = sql.raw(`initiated_at DESC, is_ahead DESC, opened_slot DESC, open_index DESC, created_ms DESC,
  execution_id DESC`);

/** GET /v1/executions: the wallet's own, newest first. */
export async function listExecutions(
  deps: RecordsDeps,
  wallet: string,
  query: ExecutionsQuery,
): Promise<ExecutionPage> {
  const filters = [
    query.status === undefined ? sql`1` : sql`status = ${query.status}`,
    query.agent_id === undefined ? sql`1` : sql`listing = ${query.agent_id}`,
    query.from === undefined ? sql`1` : sql`initiated_at > ${BigInt(query.from.floorSeconds)}`,
    query.to === undefined ? sql`1` : sql`initiated_at < ${BigInt(query.to.ceilSeconds)}`,
  ];
  const matching = sql`${executionsOf(wallet)} AS executions WHERE ${sql.join(filters, sql` AND `)}`;
  // One transaction, so that page and total are of the same moment.
  const { rows, total } = await deps.views.transaction().execute(async (views) => {
    const counted = await sql<{ total: bigint }>`SELECT count(*) AS total FROM ${matching}`.execute(views);
    const page = await sql<ExecutionView>`SELECT * FROM ${matching}
      ORDER BY ${NEWEST_FIRST} LIMIT ${query.limit} OFFSET ${query.offset}`.execute(views);
    return { rows: page.rows, total: counted.rows[0]?.total ?? 0n };
  });
  const names = await agentNames(deps, rows);
  return {
    executions: rows.map((row) => toSummary(deps, row, names.get(row.listing) ?? null)),
    total: Number(total),
    limit: query.limit,
    offset: query.offset,
  };
}

/** Names by listing: the present one, else that of the document which was called. */
async function agentNames(deps: RecordsDeps, rows: ExecutionView[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const addresses = [...new Set(rows.map((row) => row.listing))];
  if (addresses.length === 0) return names;
  const listings = await deps.views
    .selectFrom('chain.listings')
    .select(['listing', 'metadata_hash'])
    .where('listing', 'in', addresses)
    .execute();
  for (const { listing, metadata_hash } of [...listings, ...rows]) {
    if (metadata_hash === null || names.has(listing)) continue;
    const document = await deps.documents.get(metadata_hash);
    if (document) names.set(listing, document.metadata.name);
  }
  return names;
}

function toSummary(deps: RecordsDeps, row: ExecutionView, agentName: string | null): ExecutionSummary {
  return {
    execution_id: row.execution_id,
    agent_id: row.listing,
    agent_name: agentName,
    status: row.status,
    cost_usdc: toUsdc(row.cost),
    initiated_at: toTime(row.initiated_at),
    completed_at: row.completed_at === null ? null : toTime(row.completed_at),
    // An archived record has no account any more: its fields are in the transaction that archived it.
    on_chain_record: row.archived_by
      ? transactionUrl(deps, row.archived_by)
      : addressUrl(deps, row.record ?? recordOf(row.execution_id)),
  };
}

async function toFull(
  deps: RecordsDeps,
  row: ExecutionView,
  agentName: string | null,
): Promise<InParts<ExecutionFull>> {
  const settled = row.settled === 1n;
  const stored = settled
    ? await deps.views.selectFrom('results').selectAll().where('execution_id', '=', row.execution_id).executeTakeFirst()
    : undefined;
  const result = stored && isCommitted(stored.result_hash, row.result_hash) ? stored : undefined;
  const text = result ? await deps.readText(result) : null;
  const chainHash = row.result_hash === null ? null : `sha256:${row.result_hash}`;
  const time = row.execution_time_ms ?? result?.execution_time_ms ?? null;
  const value: ExecutionFull = {
    ...toSummary(deps, row, agentName),
    result: text && '',
    result_hash: settled ? (chainHash ?? result?.result_hash ?? null) : null,
    creator_amount_usdc: toUsdc(settled ? row.creator_amount : 0n),
    platform_amount_usdc: toUsdc(settled ? row.platform_amount : 0n),
    tokens_used: result?.tokens_used == null ? null : Number(result.tokens_used),
    execution_time_ms: settled && time !== null ? Number(time) : null,
    ipfs_url: text && result ? resultUrl(deps, row.execution_id, result.token) : null,
    signature: result?.signature ?? null,
    execution_signature: result?.execution_signature ?? null,
    steps: result?.steps ? [] : null,
    error: row.status === 'failed' ? errorOf(row) : null,
    refund: row.status === 'failed' ? refundOf(row) : null,
    archive: row.archived_by ? await archiveOf(deps, row.execution_id) : null,
    dispute: row.status === 'disputed' ? { outcome: row.chain_status === 'dispute_upheld' ? 'upheld' : 'open' } : null,
  };
  const parts: Parts = {
    ...(text && { result: await quoteText(text) }),
    ...(result?.steps && { steps: result.steps }),
  };
  return { value, parts };
}

/** The program's RefundReason by number, for executions that only the chain remembers. */
const REASONS: { code: ErrorCode; message: string }[] = [
  { code: 'execution_failed', message: "The creator's service reported a failure" },
  { code: 'execution_timeout', message: 'The agent did not respond within the timeout' },
  { code: 'execution_failed', message: "The creator's answer was not a valid signed result" },
  { code: 'execution_failed', message: "The creator's payout account cannot receive USDC" },
  { code: 'service_unavailable', message: 'The marketplace could not serve the execution' },
  { code: 'execution_timeout', message: 'The execution was not settled in time' },
];

function errorOf(row: ExecutionView): { code: ErrorCode; message: string } {
  const code = row.error_code;
  if (code !== null && isErrorCode(code)) return { code, message: row.error_message ?? '' };
  if (row.state === 'void') return { code: 'service_unavailable', message: 'The escrow was never opened' };
  const reason = row.reason === null ? undefined : REASONS[Number(row.reason)];
  return reason ?? { code: 'execution_failed', message: 'The execution was refunded' };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Null where no money ever moved. */
function refundOf(row: ExecutionView): ExecutionFull['refund'] {
  if (row.refunded === 1n) return 'done';
  if (row.state === 'void') return null;
  return row.refund_state === 'claimable' || row.refund_state === 'blocked' ? row.refund_state : null;
}

function recordOf(executionId: string): string {
  const id = parseUuid(executionId);
  if (!id) throw new Error(`journal row ${executionId} has no valid id`);
  return findExecution(id).toBase58();
}
