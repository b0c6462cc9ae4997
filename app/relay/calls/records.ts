/** Answers callers about their executions, one by one and in pages. */
import type { UnclaimedRefundRow } from '../../../indexer/queries/tables.ts';
import { findExecution } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { toTime, toTimeOfMs } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import {
  ERRORS,
  type ErrorCode,
  type ExecutionFull,
  type ExecutionPage,
  type ExecutionSummary,
  type ExecutionsQuery,
} from '../../sdk/wire/wire.ts';
import type { Documents } from '../agents/documents.ts';
import { ApiError } from '../errors.ts';
import { addressUrl, transactionUrl } from '../explorer.ts';
import { type InParts, type Parts, quoteText } from '../json.ts';
import { archiveOf } from './archived.ts';
import { findPage, type PageQuery } from './executionPages.ts';
import { type ExecutionView, isRefunded, isSettled, readViews } from './executionViews.ts';
import { type KeyedPageDeps, readKeyed } from './keyed.ts';
import { isCommitted, type ResultsDeps, resultUrl } from './results.ts';
import { toUnclaimed } from './unclaimed.ts';

export interface RecordsDeps extends ResultsDeps {
  documents: Documents;
  /** `''` or `?cluster=...`, appended to a path of Solana Explorer. */
  explorerQuery: string;
  /** Public address without a trailing slash. */
  baseUrl(): string;
}

/** GET /v1/executions/{execution_id} for its caller. Throws ApiError 404 if there is none, or another caller has it. */
export async function getExecution(
  deps: RecordsDeps,
  wallet: string,
  executionId: string,
): Promise<InParts<ExecutionFull>> {
  const known = parseUuid(executionId) ? executionId : '';
  const [row] = await readViews(deps.views, [known]);
  if (row?.wallet !== wallet) throw new ApiError('execution_not_found', 'No call of this wallet has this execution_id');
  return toFull(deps, row, (await agentNames(deps, [row])).get(row.listing) ?? null);
}

/** Later than any clock of a chain. */
const NEVER = 2 ** 40;

/** GET /v1/executions: the wallet's own, newest first. Throws ApiError 503 if a call may exist that is not known. */
export async function listExecutions(
  deps: RecordsDeps & KeyedPageDeps,
  wallet: string,
  query: ExecutionsQuery,
): Promise<ExecutionPage> {
  const { status, agent_id: agentId, key_id: keyId, idempotency_key: key, limit, offset } = query;
  const from = Math.max(0, (query.from?.floorSeconds ?? -1) + 1);
  const to = query.to?.ceilSeconds ?? NEVER;
  const wanted = { wallet, status, agentId, keyId, from, to, limit, offset };
  const { rows, total } = await (key === undefined ? readPage(deps, wanted) : readKeyed(deps, wanted, key));
  const names = await agentNames(deps, rows);
  return { executions: rows.map((row) => toSummary(deps, row, names.get(row.listing) ?? null)), total, limit, offset };
}

/** In one transaction, so that page and total are of the same moment. */
function readPage({ views }: RecordsDeps, wanted: PageQuery): Promise<{ rows: ExecutionView[]; total: number }> {
  return views.transaction().execute(async (views) => {
    const page = await findPage(views, wanted);
    return { rows: await readViews(views, page.ids), total: page.total };
  });
}

/** Names by listing: from the current document, else from the document at the time of the call. */
export async function agentNames(
  deps: Pick<RecordsDeps, 'views' | 'documents'>,
  rows: readonly { listing: string; metadata_hash: string | null }[],
): Promise<Map<string, string>> {
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
  const refund = refundOf(row);
  return {
    execution_id: row.execution_id,
    agent_id: row.listing,
    agent_name: agentName,
    task: row.task,
    key_id: row.key_id,
    key_name: row.key_name,
    deposit: row.deposit,
    status: row.status,
    error: row.status === 'failed' ? errorOf(row) : null,
    refund,
    dispute: row.dispute && { outcome: row.dispute },
    cost_usdc: toUsdc(row.cost),
    refunded_usdc: refund !== 'done' ? 0 : row.state === 'returned' ? null : toUsdc(row.price),
    returned_usdc: row.dispute !== 'upheld' ? 0 : row.returned === null ? null : toUsdc(row.returned),
    initiated_at: toTime(row.initiated_at),
    completed_at: row.completed_at === null ? null : toTime(row.completed_at),
    execution_time_ms: isSettled(row) && row.execution_time_ms !== null ? Number(row.execution_time_ms) : null,
    // An archived record has no account any more. Its fields are in the transaction that archived it.
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
  const settled = isSettled(row);
  const stored = settled
    ? await deps.views.selectFrom('results').selectAll().where('execution_id', '=', row.execution_id).executeTakeFirst()
    : undefined;
  const result = stored && isCommitted(stored.result_hash, row.result_hash) ? stored : undefined;
  const deletedMs = row.content_deleted_ms;
  const text = result && deletedMs === null ? await deps.readText(result) : null;
  const chainHash = row.result_hash === null ? null : `sha256:${row.result_hash}`;
  const time = row.execution_time_ms ?? result?.execution_time_ms ?? null;
  const unclaimed = row.status === 'failed' && isRefunded(row) ? await readUnclaimed(deps, row) : null;
  const value: ExecutionFull = {
    ...toSummary(deps, row, agentName),
    result: text && '',
    result_hash: settled ? (chainHash ?? result?.result_hash ?? null) : null,
    creator_amount_usdc: toUsdc(settled ? row.creator_amount : 0n),
    platform_amount_usdc: toUsdc(settled ? row.platform_amount : 0n),
    service_fee_usdc: row.service_fee === null ? null : toUsdc(row.service_fee),
    tokens_used: result?.tokens_used == null ? null : Number(result.tokens_used),
    execution_time_ms: settled && time !== null ? Number(time) : null,
    ipfs_url: text && result ? resultUrl(deps, row.execution_id, result.token) : null,
    signature: result?.signature ?? null,
    execution_signature: result?.execution_signature ?? null,
    steps: result?.steps ? [] : null,
    unclaimed: unclaimed && toUnclaimed(unclaimed),
    archive: row.archived_by ? await archiveOf(deps, row.execution_id) : null,
    content_deleted_at: deletedMs === null ? null : toTimeOfMs(deletedMs),
  };
  const parts: Parts = {
    ...(text && { result: await quoteText(text, row.wallet) }),
    ...(result?.steps && { steps: result.steps }),
  };
  return { value, parts };
}

/** The program's RefundReason by number, for executions that only the chain has. */
const REASONS: { code: ErrorCode; message: string }[] = [
  { code: 'execution_failed', message: "The creator's server reported a failure" },
  { code: 'execution_timeout', message: 'The agent did not respond within the timeout' },
  { code: 'execution_failed', message: "The creator's answer was not a valid signed result" },
  { code: 'execution_failed', message: "The creator's payout account cannot receive USDC" },
  { code: 'service_unavailable', message: 'The marketplace could not serve the call' },
  { code: 'execution_timeout', message: 'The call was not settled in time' },
];

function errorOf(row: ExecutionView): { code: ErrorCode; message: string } {
  const code = row.error_code;
  if (code !== null && isErrorCode(code)) return { code, message: row.error_message ?? '' };
  if (row.state === 'void') return { code: 'service_unavailable', message: 'The escrow was never opened' };
  const reason = row.reason === null ? undefined : REASONS[Number(row.reason)];
  return reason ?? { code: 'execution_failed', message: 'The call was refunded' };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** The state of the refund; null if no money ever moved, or none goes back. */
function refundOf(row: ExecutionView): ExecutionSummary['refund'] {
  if (row.status === 'running') return row.state === 'refunding' || row.state === 'returning' ? 'pending' : null;
  if (row.status !== 'failed') return null;
  if (isRefunded(row)) return row.is_unclaimed === 1n ? 'unclaimed' : 'done';
  if (row.state === 'void') return null;
  return row.refund_state === 'waiting' ? 'waiting' : null;
}

/** The unclaimed refund of a call, claimed or not; null if its money went to the caller. */
async function readUnclaimed(
  { views }: Pick<RecordsDeps, 'views'>,
  { record, deposit }: ExecutionView,
): Promise<UnclaimedRefundRow | null> {
  const sources = [record, deposit].filter((source) => source !== null);
  if (sources.length === 0) return null;
  const rows = views.selectFrom('chain.unclaimed_refunds').selectAll().where('source', 'in', sources);
  // A deposit's address can be prepared again. The last one is that of the call.
  return (await rows.orderBy('unclaimed_at', 'desc').limit(1).executeTakeFirst()) ?? null;
}

function recordOf(executionId: string): string {
  const id = parseUuid(executionId);
  if (!id) throw new Error(`journal row ${executionId} has no valid id`);
  return findExecution(id).toBase58();
}
