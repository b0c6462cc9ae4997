/** Disputes as their parties and the admin read them: the chain's rows with the words that their hashes stand for. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { constants } from '../../sdk/program/constants.ts';
import type { DisputeOutcome, DisputeSummary } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { Documents } from '../agents/documents.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

export interface DisputesDeps {
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  documents: Documents;
}

interface Page {
  limit: number;
  offset: number;
}

interface DisputeView {
  execution_id: string;
  listing: string;
  metadata_hash: string;
  caller: string;
  creator: string;
  price: bigint;
  evidence_hash: string;
  evidence_uri: string | null;
  has_evidence: bigint;
  outcome: DisputeOutcome;
  bond: bigint;
  opened_at: bigint;
  resolved_at: bigint | null;
  amount_to_caller: bigint;
  amount_to_treasury: bigint;
  owed: bigint;
  reason_hash: string | null;
  reason: string | null;
}

/** When the admin has promised to have answered: the specification's target, which no program enforces. */
const ANSWER_SECONDS = 72 * 60 * 60;

/** Those of the wallet, as caller or creator. */
export function listOwnDisputes(deps: DisputesDeps, wallet: string, page: Page) {
  const own = sql<boolean>`d.dispute IN (
    SELECT dispute FROM chain.disputes WHERE caller = ${wallet}
    UNION SELECT dispute FROM chain.disputes WHERE listing IN (
      SELECT listing FROM chain.listings WHERE creator = ${wallet}))`;
  return readPage(deps, own, sql`d.opened_at DESC, d.execution_id`, page);
}

/** All of them: the open ones by when they are due, then the others, the newest first. */
export function listAllDisputes(
  deps: DisputesDeps,
  { outcome, ...page }: Page & { outcome?: DisputeOutcome | undefined },
) {
  const asked = outcome === undefined ? sql<boolean>`1 = 1` : sql<boolean>`d.outcome = ${outcome}`;
  const order = sql`CASE d.outcome WHEN 'open' THEN 0 ELSE 1 END,
    CASE d.outcome WHEN 'open' THEN d.opened_at ELSE -d.opened_at END, d.execution_id`;
  return readPage(deps, asked, order, page);
}

/** The dispute of an execution; undefined where there is none. */
export async function findDispute(deps: DisputesDeps, executionId: string): Promise<DisputeSummary | undefined> {
  const only = { limit: 1, offset: 0 };
  return (await readPage(deps, sql<boolean>`d.execution_id = ${executionId}`, sql`d.execution_id`, only)).disputes[0];
}

async function readPage(
  deps: DisputesDeps,
  condition: RawBuilder<boolean>,
  order: RawBuilder<unknown>,
  { limit, offset }: Page,
): Promise<{ disputes: DisputeSummary[]; total: number }> {
  const matching = sql`chain.disputes AS d
    JOIN chain.executions AS e ON e.execution_id = d.execution_id
    JOIN chain.listings AS l ON l.listing = d.listing
    WHERE ${condition}`;
  // One transaction, so that page and total are of the same moment.
  const { rows, total } = await deps.views.transaction().execute(async (views) => {
    const counted = await sql<{ total: bigint }>`SELECT count(*) AS total FROM ${matching}`.execute(views);
    const page = await sql<DisputeView>`SELECT
        d.execution_id, d.listing, l.metadata_hash, d.caller, l.creator, e.price, d.evidence_hash, d.evidence_uri,
        CASE WHEN EXISTS (SELECT 1 FROM evidence AS kept
          WHERE kept.execution_id = d.execution_id AND kept.evidence_hash = d.evidence_hash) THEN 1 ELSE 0 END AS has_evidence,
        d.outcome, d.bond, d.opened_at, d.resolved_at, d.amount_to_caller, d.amount_to_treasury,
        d.owed, d.reason_hash,
        (SELECT reason FROM dispute_reasons AS r
          WHERE r.execution_id = d.execution_id AND r.reason_hash = d.reason_hash) AS reason
      FROM ${matching} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`.execute(views);
    return { rows: page.rows, total: Number(counted.rows[0]?.total ?? 0n) };
  });
  return { disputes: await Promise.all(rows.map((row) => toSummary(deps, row))), total };
}

async function toSummary({ documents }: DisputesDeps, row: DisputeView): Promise<DisputeSummary> {
  return {
    execution_id: row.execution_id,
    agent_id: row.listing,
    agent_name: (await documents.get(row.metadata_hash))?.metadata.name ?? null,
    caller: row.caller,
    creator: row.creator,
    price_usdc: toUsdc(row.price),
    evidence_hash: row.evidence_hash,
    evidence_uri: row.evidence_uri || null,
    has_evidence: row.has_evidence === 1n,
    outcome: row.outcome,
    bond_lamports: Number(row.bond),
    opened_at: toTime(row.opened_at),
    answer_due_at: toTime(row.opened_at + BigInt(ANSWER_SECONDS)),
    lapses_at: toTime(row.opened_at + BigInt(constants.disputeLapseSeconds)),
    resolved_at: row.resolved_at === null ? null : toTime(row.resolved_at),
    amount_to_caller_usdc: toUsdc(row.amount_to_caller),
    amount_to_treasury_usdc: toUsdc(row.amount_to_treasury),
    owed_usdc: toUsdc(row.owed),
    reason_hash: row.reason_hash,
    reason: row.reason,
  };
}
