/** How a listing's executions went: the latest for everybody, days and failures for its creator. */
import { type Kysely, sql } from 'kysely';
import type { AgentOutcome, ListingDay, ListingFailure } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ApiError } from '../errors.ts';
import { readFailures } from '../ledger/executions.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { CREATOR_REASONS } from './agentHealth.ts';
import { type AgentDeps, requireListing } from './catalog.ts';

export interface StatisticsDeps {
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  /** Unix milliseconds. */
  now(): number;
}

const NEWEST = 50;
const DAY_SECONDS = 86_400;

/** The newest 50 ends. Throws ApiError 404 where there is no such agent. */
export async function readOutcomes(deps: AgentDeps, agentId: string): Promise<{ outcomes: AgentOutcome[] }> {
  const { listing } = await requireListing(deps, agentId);
  const rows = await deps.views
    .selectFrom('chain.ended_executions')
    .select(['outcome', 'settled_at', 'execution_time_ms'])
    .where('listing', '=', listing)
    .where('settled_at', 'is not', null)
    .orderBy('settled_at', 'desc')
    .orderBy('execution_id')
    .limit(NEWEST)
    .execute();
  return {
    outcomes: rows.map((row) => ({
      outcome: row.outcome,
      ended_at: toTime(row.settled_at ?? 0n),
      execution_time_ms: row.execution_time_ms === null ? null : Number(row.execution_time_ms),
    })),
  };
}

interface DayRow {
  /** Days since 1970. */
  day: bigint;
  completed: bigint;
  failed: bigint;
  earned: bigint;
  p50_ms: bigint | null;
  p95_ms: bigint | null;
}

/** Days in UTC up to today, and why executions failed in them. Throws ApiError 404 but for the listing's creator. */
export async function readStatistics(
  { views, now }: StatisticsDeps,
  wallet: string,
  { agent_id: agentId, days }: { agent_id: string; days: number },
): Promise<{ days: ListingDay[]; failures: ListingFailure[] }> {
  const own = await views
    .selectFrom('chain.listings')
    .select('listing')
    .where('listing', '=', agentId)
    .where('creator', '=', wallet)
    .executeTakeFirst();
  if (!own) throw new ApiError('agent_not_found', 'This wallet has no listing with this agent_id');
  const today = Math.floor(now() / 1_000 / DAY_SECONDS);
  const first = today - days + 1;
  const rows = await readDays(views, agentId, first);
  const byDay = new Map(rows.map((row) => [Number(row.day), row]));
  const failures = await readFailures(views, agentId, first * DAY_SECONDS * 1_000, CREATOR_REASONS);
  return {
    days: Array.from({ length: days }, (_, index) => toDay(first + index, byDay.get(first + index))),
    failures: failures.map(({ code, message, count, last_at }) => {
      return { code, message, count: Number(count), last_at: toTime(last_at) };
    }),
  };
}

/** Percentiles are the nearest rank, as those of an agent's health. */
async function readDays(views: StatisticsDeps['views'], listing: string, firstDay: number): Promise<DayRow[]> {
  const { rows } = await sql<DayRow>`
    WITH ended AS (
      SELECT
        settled_at / ${BigInt(DAY_SECONDS)} AS day,
        CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END AS is_completed,
        CASE WHEN outcome IN ('failed', 'dispute_upheld') THEN 1 ELSE 0 END AS is_failed,
        creator_amount,
        execution_time_ms AS ms
      FROM chain.ended_executions
      WHERE listing = ${listing} AND settled_at >= ${BigInt(firstDay * DAY_SECONDS)}
    ),
    ranked AS (
      SELECT *,
        row_number() OVER (PARTITION BY day, is_completed ORDER BY ms NULLS LAST) AS rank,
        count(ms) OVER (PARTITION BY day, is_completed) AS timed
      FROM ended
    )
    SELECT
      day,
      sum(is_completed) AS completed,
      sum(is_failed) AS failed,
      sum(creator_amount) AS earned,
      min(ms) FILTER (WHERE is_completed = 1 AND rank * 100 >= timed * 50) AS p50_ms,
      min(ms) FILTER (WHERE is_completed = 1 AND rank * 100 >= timed * 95) AS p95_ms
    FROM ranked
    GROUP BY day`.execute(views);
  return rows;
}

function toDay(day: number, row: DayRow | undefined): ListingDay {
  const toMs = (ms: bigint | null | undefined) => (ms == null ? null : Number(ms));
  return {
    day: new Date(day * DAY_SECONDS * 1_000).toISOString().slice(0, 10),
    completed: Number(row?.completed ?? 0n),
    failed: Number(row?.failed ?? 0n),
    earned_usdc: toUsdc(row?.earned ?? 0n),
    p50_ms: toMs(row?.p50_ms),
    p95_ms: toMs(row?.p95_ms),
  };
}
