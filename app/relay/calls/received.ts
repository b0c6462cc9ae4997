/** The calls that a creator's servers received, for the creator. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { textsOf } from '../../database/portable.ts';
import type { DisputeOutcome } from '../../sdk/wire/choices.ts';
import type { ReceivedCall, ReceivedCallContent } from '../../sdk/wire/procedures.ts';
import { toTimeOfMs } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { TASK_CHARACTERS } from '../../sdk/wire/wire.ts';
import { requireOwn } from '../agents/ownListings.ts';
import { ApiError } from '../errors.ts';
import { toRequest } from '../execution/serve.ts';
import { readStored } from '../ledger/results.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { beginningOf } from '../outbound/answerBody.ts';
import { renderRequest } from '../outbound/dispatch.ts';
import { DISPUTE } from './executionViews.ts';
import type { ResultsDeps } from './results.ts';

interface CallRow {
  execution_id: string;
  listing: string;
  task: string | null;
  status: ReceivedCall['status'];
  dispute: DisputeOutcome | null;
  price: bigint;
  earned: bigint;
  refunded: bigint;
  dispatched_ms: bigint;
  duration_ms: bigint | null;
  http_status: bigint | null;
  error_code: string | null;
  error_message: string | null;
}

/** For its creator, a call has failed once its refund is on its way. The server of a paid call answered with 200. */
const COLUMNS = sql.raw(`j.execution_id AS execution_id, j.listing AS listing,
  CASE WHEN c.status IN ('disputed', 'dispute_upheld') THEN 'disputed'
    WHEN j.state = 'settled' THEN 'completed' ELSE 'failed' END AS status,
  CASE WHEN j.content_deleted_ms IS NULL THEN substr(j.task, 1, ${TASK_CHARACTERS}) END AS task,
  ${DISPUTE} AS dispute, j.price AS price,
  CASE WHEN j.state = 'settled' THEN coalesce(j.creator_amount, 0) ELSE 0 END AS earned,
  CASE WHEN j.state = 'refunded' THEN j.price ELSE 0 END AS refunded,
  j.dispatched_ms AS dispatched_ms,
  coalesce(f.duration_ms, r.execution_time_ms) AS duration_ms,
  CASE WHEN f.execution_id IS NULL AND r.execution_id IS NOT NULL THEN 200 ELSE f.http_status END AS http_status,
  j.error_code AS error_code, j.error_message AS error_message`);

const JOINED = sql.raw(`executions AS j
  LEFT JOIN chain.executions AS c ON c.execution_id = j.execution_id
  LEFT JOIN chain.disputes AS d ON d.execution_id = j.execution_id
  LEFT JOIN failed_answers AS f ON f.execution_id = j.execution_id AND j.state <> 'settled'
  LEFT JOIN results AS r ON r.execution_id = j.execution_id`);

/** Ended calls; the states are literals, as in the partial index of each. */
const RECEIVED = {
  all: sql.raw("state IN ('settled', 'refunding', 'refunded') AND dispatched_ms IS NOT NULL"),
  refunded: sql.raw("state IN ('refunding', 'refunded') AND dispatched_ms IS NOT NULL"),
};

/**
 * Newest first; of all agents of the wallet without `agent_id`. `failed`: refunded, or with an upheld dispute. Throws
 * ApiError 404 for everybody but the listing's creator.
 */
export async function listReceived(
  { views }: Pick<ResultsDeps, 'views'>,
  wallet: string,
  input: { agent_id?: string | undefined; failed: boolean; before?: string | undefined; limit: number },
): Promise<{ calls: ReceivedCall[]; has_more: boolean }> {
  const { agent_id: listing, failed, before, limit } = input;
  if (listing !== undefined) await requireOwn(views, wallet, listing);
  const listings = listing === undefined ? await listingsOf(views, wallet) : [listing];
  const last = before === undefined ? undefined : await createdMs(views, listings, before);
  const older = last
    ? sql`AND created_ms <= ${last} AND (created_ms < ${last} OR execution_id < ${before})`
    : sql.raw('');
  const search = (condition: RawBuilder<unknown>) =>
    sql<{ execution_id: string; created_ms: bigint }>`SELECT execution_id, created_ms FROM executions
      WHERE ${condition} ${older} ORDER BY created_ms DESC, execution_id DESC LIMIT ${limit + 1}`.execute(views);
  // One by one: PostgreSQL would plan a search of all for a listing of average size, and sort the calls of a large one.
  const found = listings.map((one) => search(sql`listing = ${one} AND ${RECEIVED[failed ? 'refunded' : 'all']}`));
  if (failed)
    found.push(
      search(sql`execution_id IN (SELECT execution_id FROM chain.disputes
          WHERE listing IN ${textsOf(views, listings)} AND outcome = 'upheld')
        AND state = 'settled' AND dispatched_ms IS NOT NULL`),
    );
  const picked = (await Promise.all(found))
    .flatMap(({ rows }) => rows)
    .sort((one, other) => Number(other.created_ms - one.created_ms) || (one.execution_id < other.execution_id ? 1 : -1))
    .slice(0, limit + 1)
    .map(({ execution_id }) => execution_id);
  const { rows } = await sql<CallRow>`
    SELECT ${COLUMNS} FROM ${JOINED}
    WHERE j.execution_id IN ${textsOf(views, picked)}
    ORDER BY j.created_ms DESC, j.execution_id DESC`.execute(views);
  return { calls: rows.slice(0, limit).map(toCall), has_more: rows.length > limit };
}

async function listingsOf(views: Kysely<LedgerDatabase>, creator: string): Promise<string[]> {
  const rows = await views.selectFrom('chain.listings').select('listing').where('creator', '=', creator).execute();
  return rows.map(({ listing }) => listing);
}

/** Creation time of the call before the page. Throws ApiError 404 if none of these listings received it. */
async function createdMs(views: Kysely<LedgerDatabase>, listings: string[], executionId: string): Promise<bigint> {
  const row = await views
    .selectFrom('executions')
    .select('created_ms')
    .where('execution_id', '=', executionId)
    .where('listing', 'in', textsOf(views, listings))
    .executeTakeFirst();
  if (!row) throw notReceived();
  return row.created_ms;
}

/**
 * The request and the answer, unless the execution's caller has deleted them. Throws ApiError 404 for everybody but the
 * creator of the called listing.
 */
export async function readReceived(
  deps: ResultsDeps,
  wallet: string,
  executionId: string,
): Promise<ReceivedCallContent> {
  const { rows } = await sql<
    CallRow & {
      whole_task: string;
      parameters: string;
      wallet: string;
      timeout_seconds: bigint;
      content_deleted_ms: bigint | null;
      body: Buffer | null;
      is_cut: bigint | null;
    }
  >`
    SELECT ${COLUMNS}, j.task AS whole_task, j.parameters AS parameters, j.wallet AS wallet,
      j.timeout_seconds AS timeout_seconds, j.content_deleted_ms AS content_deleted_ms, f.body AS body, f.is_cut AS is_cut
    FROM ${JOINED}
    JOIN chain.listings AS l ON l.listing = j.listing AND l.creator = ${wallet}
    WHERE j.execution_id IN (SELECT execution_id FROM executions
      WHERE execution_id = ${executionId} AND ${RECEIVED.all})`.execute(deps.views);
  const [row] = rows;
  if (!row) throw notReceived();
  const call = toCall(row);
  if (row.content_deleted_ms !== null) return { call, request: null, answer: null };
  return {
    call,
    request: renderRequest(toRequest({ ...row, task: row.whole_task })).toString(),
    answer: await answerOf(deps, row),
  };
}

async function answerOf(
  { views, readText }: ResultsDeps,
  row: { execution_id: string; body: Buffer | null; is_cut: bigint | null },
): Promise<ReceivedCallContent['answer']> {
  if (row.body) return { kind: 'body', text: row.body.toString('utf8'), is_cut: row.is_cut === 1n };
  const stored = await readStored(views, row.execution_id);
  const text = stored && (await readText(stored));
  if (!text) return null;
  const { body, isCut } = beginningOf([text]);
  return { kind: 'result', text: body.toString('utf8'), is_cut: isCut };
}

function toCall(row: CallRow): ReceivedCall {
  return {
    execution_id: row.execution_id,
    agent_id: row.listing,
    task: row.task,
    status: row.status,
    dispute: row.dispute && { outcome: row.dispute },
    price_usdc: toUsdc(row.price),
    earned_usdc: toUsdc(row.earned),
    refunded_usdc: toUsdc(row.refunded),
    received_at: toTimeOfMs(row.dispatched_ms),
    duration_ms: row.duration_ms === null ? null : Number(row.duration_ms),
    http_status: row.http_status === null ? null : Number(row.http_status),
    error:
      row.status === 'failed'
        ? { code: row.error_code ?? 'execution_failed', message: row.error_message ?? 'The call was refunded' }
        : null,
  };
}

const notReceived = () =>
  new ApiError('execution_not_found', 'No agent of this wallet has received a call with this execution_id');
