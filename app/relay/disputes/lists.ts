/** Disputes for their parties and the admin: the chain's rows with the texts behind their hashes. */
import { type RawBuilder, sql } from 'kysely';
import type { DisputeRow } from '../../../indexer/queries/tables.ts';
import { countRows, isPostgres, readTogether, textsOf } from '../../database/portable.ts';
import { constants } from '../../sdk/program/constants.ts';
import { DECISION_SECONDS } from '../../sdk/wire/choices.ts';
import type { DisputeOutcome, DisputeSummary } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { TASK_CHARACTERS } from '../../sdk/wire/wire.ts';
import type { Documents } from '../agents/documents.ts';
import type { Databases } from '../ledger/tables.ts';

export interface DisputesDeps extends Pick<Databases, 'views'> {
  documents: Documents;
}

interface Page {
  limit: number;
  offset: number;
}

type DisputeView = Omit<DisputeRow, 'dispute' | 'record' | 'closed' | 'slot'> & {
  metadata_hash: string;
  task: string | null;
  creator: string;
  price: bigint;
  has_evidence: bigint;
  reason: string | null;
  reply: string | null;
};

/**
 * Disputes counted from the page's offset on. Up to there a total is exact, and a next page exists if there are more.
 */
const COUNTED = 10_000;

const OPEN_FIRST = sql`ORDER BY outcome <> 'open', opened_at DESC, execution_id`;

/**
 * The wallet's disputes, as caller or creator: open ones, then the others, each newest first. The total counts up to
 * `counted` beyond the offset. With `agent_id`, those of this listing, if it is the wallet's.
 */
export function listOwnDisputes(
  deps: DisputesDeps,
  wallet: string,
  { agent_id: agentId, ...page }: Page & { agent_id?: string | undefined },
  counted = COUNTED,
) {
  const order = OPEN_FIRST;
  const columns = sql`execution_id, outcome, opened_at`;
  if (agentId !== undefined) {
    return readPage(deps, page, counted, {
      order,
      places: (most) => sql`SELECT * FROM (SELECT ${columns} FROM chain.disputes WHERE listing = ${agentId}
        AND EXISTS (SELECT 1 FROM chain.listings AS l WHERE l.listing = ${agentId} AND l.creator = ${wallet})
        ${order} LIMIT ${most}) AS against`,
    });
  }
  const isOther = sql`caller <> ${wallet}`;
  return readPage(deps, page, counted, {
    order,
    places: (most) => sql`
      SELECT * FROM (SELECT ${columns} FROM chain.disputes WHERE caller = ${wallet}
        ${order} LIMIT ${most}) AS called
      UNION ALL SELECT * FROM (${against(deps.views, wallet, isOther, sql`${order} LIMIT ${most}`)}) AS against`,
  });
}

/** Each listing's own first disputes: no later one can be on the page. */
function against(
  views: DisputesDeps['views'],
  creator: string,
  condition: RawBuilder<unknown>,
  first: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const found = sql`chain.disputes WHERE listing = l.listing AND ${condition} ${first}`;
  // SQLite has no LATERAL. With SQLite's statement, PostgreSQL would read all disputes once per listing.
  const joined = isPostgres(views)
    ? sql`CROSS JOIN LATERAL (SELECT execution_id, outcome, opened_at FROM ${found}) AS d`
    : sql`CROSS JOIN chain.disputes AS d ON d.execution_id IN (SELECT execution_id FROM ${found})`;
  return sql`SELECT d.execution_id, d.outcome, d.opened_at FROM chain.listings AS l ${joined} WHERE l.creator = ${creator}`;
}

/**
 * All disputes: open ones by due date, then the others, newest first. Those of one creator's listings are in the order of
 * `listOwnDisputes`, and the total is as there. Without tasks: each reading of one by the admin is in the log.
 */
export async function listAllDisputes(
  deps: DisputesDeps,
  { outcome, creator, ...page }: Page & { outcome?: DisputeOutcome | undefined; creator?: string | undefined },
  counted = COUNTED,
) {
  const waiting = (most: number) => sql`
    SELECT * FROM (SELECT execution_id, 0 AS turn, opened_at AS place FROM chain.disputes
      WHERE outcome = 'open' ORDER BY opened_at, execution_id LIMIT ${most}) AS waiting`;
  const ended = (most: number) => sql`
    SELECT * FROM (SELECT execution_id, 1 AS turn, -opened_at AS place FROM chain.disputes
      WHERE ${outcome === undefined ? sql.raw("outcome <> 'open'") : sql`outcome = ${outcome}`}
      ORDER BY opened_at DESC, execution_id LIMIT ${most}) AS ended`;
  const isOutcome = outcome === undefined ? sql`TRUE` : sql`outcome = ${outcome}`;
  const all: Listing = {
    order: sql`ORDER BY turn, place, execution_id`,
    places(most) {
      if (outcome === 'open') return waiting(most);
      return outcome === undefined ? sql`${waiting(most)} UNION ALL ${ended(most)}` : ended(most);
    },
  };
  const { disputes, total } = await readPage(
    deps,
    page,
    counted,
    creator === undefined
      ? all
      : {
          order: OPEN_FIRST,
          places: (most) => against(deps.views, creator, isOutcome, sql`${OPEN_FIRST} LIMIT ${most}`),
        },
  );
  return { disputes: disputes.map((dispute) => ({ ...dispute, task: null })), total };
}

/** Others of a caller or a listing: open ones, then the others, each newest first. Without tasks, as above. */
export async function listOthers(
  deps: DisputesDeps,
  column: 'caller' | 'listing',
  { value, execution_id, limit }: { value: string; execution_id: string; limit: number },
): Promise<DisputeSummary[]> {
  const { rows } = await sql<{ execution_id: string }>`SELECT execution_id FROM chain.disputes
    WHERE ${sql.ref(column)} = ${value} AND execution_id <> ${execution_id}
    ORDER BY outcome <> 'open', opened_at DESC, execution_id LIMIT ${limit}`.execute(deps.views);
  const ids = rows.map((row) => row.execution_id);
  const views = await readViews(deps.views, ids);
  return Promise.all(views.map(async (view) => ({ ...(await toSummary(deps, view)), task: null })));
}

/** The dispute of an execution; undefined if there is none. */
export async function findDispute(deps: DisputesDeps, executionId: string): Promise<DisputeSummary | undefined> {
  const [row] = await readViews(deps.views, [executionId]);
  return row && toSummary(deps, row);
}

interface Listing {
  order: RawBuilder<unknown>;
  /** At least the first `most`, with their sort keys. */
  places(most: number): RawBuilder<unknown>;
}

async function readPage(
  deps: DisputesDeps,
  { limit, offset }: Page,
  counted: number,
  { order, places }: Listing,
): Promise<{ disputes: DisputeSummary[]; total: number }> {
  const { rows, total } = await readTogether(deps.views, async (views) => {
    const most = offset + counted;
    const total = await countRows(views, sql`SELECT 1 FROM (${places(most)}) AS counted LIMIT ${most}`);
    const page = await sql<{ execution_id: string }>`SELECT execution_id FROM (${places(offset + limit)}) AS places
      ${order} LIMIT ${limit} OFFSET ${offset}`.execute(views);
    const ids = page.rows.map((row) => row.execution_id);
    return { rows: await readViews(views, ids), total };
  });
  return { disputes: await Promise.all(rows.map((row) => toSummary(deps, row))), total };
}

/** In the order of the ids. */
async function readViews(views: DisputesDeps['views'], executionIds: string[]): Promise<DisputeView[]> {
  if (executionIds.length === 0) return [];
  const { rows } = await sql<DisputeView>`SELECT
      d.execution_id, d.listing, l.metadata_hash,
      (SELECT substr(j.task, 1, ${TASK_CHARACTERS}) FROM executions AS j
        WHERE j.execution_id = d.execution_id AND j.wallet = d.caller AND j.metadata_hash <> '' AND j.content_deleted_ms IS NULL) AS task,
      d.caller, l.creator, e.price, d.evidence_hash, d.evidence_uri,
      CASE WHEN EXISTS (SELECT 1 FROM evidence AS kept
        WHERE kept.execution_id = d.execution_id AND kept.evidence_hash = d.evidence_hash) THEN 1 ELSE 0 END AS has_evidence,
      d.outcome, d.bond, d.bond_paid, d.opened_at, d.resolved_at, d.amount_to_caller, d.amount_slashed,
      d.owed, d.reason_hash,
      (SELECT reason FROM dispute_reasons AS r
        WHERE r.execution_id = d.execution_id AND r.reason_hash = d.reason_hash) AS reason,
      (SELECT reply FROM dispute_replies AS a WHERE a.execution_id = d.execution_id) AS reply
    FROM chain.disputes AS d
    JOIN chain.executions AS e ON e.execution_id = d.execution_id
    JOIN chain.listings AS l ON l.listing = d.listing
    WHERE d.execution_id IN ${textsOf(views, executionIds)}`.execute(views);
  const found = new Map(rows.map((row) => [row.execution_id, row]));
  return executionIds.flatMap((id) => found.get(id) ?? []);
}

async function toSummary({ documents }: DisputesDeps, row: DisputeView): Promise<DisputeSummary> {
  return {
    execution_id: row.execution_id,
    agent_id: row.listing,
    agent_name: (await documents.get(row.metadata_hash))?.metadata.name ?? null,
    task: row.task,
    caller: row.caller,
    creator: row.creator,
    price_usdc: toUsdc(row.price),
    evidence_hash: row.evidence_hash,
    evidence_uri: row.evidence_uri || null,
    has_evidence: row.has_evidence === 1n,
    outcome: row.outcome,
    bond_lamports: Number(row.bond),
    bond_paid_lamports: row.bond_paid === null ? null : Number(row.bond_paid),
    opened_at: toTime(row.opened_at),
    answer_due_at: toTime(row.opened_at + BigInt(DECISION_SECONDS)),
    lapses_at: toTime(row.opened_at + BigInt(constants.disputeLapseSeconds)),
    resolved_at: row.resolved_at === null ? null : toTime(row.resolved_at),
    amount_to_caller_usdc: row.amount_to_caller === null ? null : toUsdc(row.amount_to_caller),
    amount_slashed_usdc: row.amount_slashed === null ? null : toUsdc(row.amount_slashed),
    owed_usdc: toUsdc(row.owed),
    reason_hash: row.reason_hash,
    reason: row.reason,
    reply: row.reply,
  };
}
