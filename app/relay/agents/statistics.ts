/** The outcomes of a listing's executions: the latest for everybody, days and failures for its creator. */
import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { AgentOutcome, ListingDay, ListingFailure } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { readFailures } from '../ledger/executions.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { CREATOR_REASONS } from './agentHealth.ts';
import { type AgentDeps, requireListing } from './catalog.ts';
import { requireOwn } from './ownListings.ts';

export interface StatisticsDeps {
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  /** Unix milliseconds. */
  now(): number;
}

const NEWEST = 50;
const DAY_SECONDS = 86_400;

/** The newest 50 ends. Throws ApiError 404 if there is no such agent. */
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

interface Day {
  completed: number;
  failed: number;
  /** Base units. */
  earned: bigint;
  /** Times of completed executions, milliseconds. */
  times: number[];
}

/**
 * UTC days up to today, and the reasons of failures in them. Throws ApiError 404 for everybody but the listing's
 * creator.
 */
export async function readStatistics(
  { views, now }: StatisticsDeps,
  wallet: string,
  { agent_id: agentId, days }: { agent_id: string; days: number },
): Promise<{ days: ListingDay[]; failures: ListingFailure[] }> {
  await requireOwn(views, wallet, agentId);
  const today = Math.floor(now() / 1_000 / DAY_SECONDS);
  const first = today - days + 1;
  const byDay = await readDays(views, agentId, first);
  const failures = await readFailures(views, agentId, first * DAY_SECONDS * 1_000, CREATOR_REASONS);
  return {
    days: Array.from({ length: days }, (_, index) => toDay(first + index, byDay.get(first + index))),
    failures: failures.map(({ code, message, count, last_at }) => {
      return { code, message, count: Number(count), last_at: toTime(last_at) };
    }),
  };
}

/** Ends per batch: a few milliseconds. */
const SLICE = 1_000;

/** Readings in progress, by listing and day: the same request meanwhile shares the result. */
const reading = new WeakMap<StatisticsDeps['views'], Map<string, Promise<Map<number, Day>>>>();

function readDays(views: StatisticsDeps['views'], listing: string, firstDay: number): Promise<Map<number, Day>> {
  const here = reading.get(views) ?? new Map<string, Promise<Map<number, Day>>>();
  reading.set(views, here);
  const name = `${listing} ${firstDay}`;
  const days = here.get(name) ?? addUp(views, listing, firstDay).finally(() => here.delete(name));
  here.set(name, days);
  return days;
}

/** Results by days since 1970. Reads all ends of those days, in batches, so that nobody else waits. */
async function addUp(views: StatisticsDeps['views'], listing: string, firstDay: number): Promise<Map<number, Day>> {
  const days = new Map<number, Day>();
  const from = BigInt(firstDay * DAY_SECONDS);
  for (let last: EndRow | undefined; ; ) {
    const before = last
      ? sql`AND settled_at <= ${last.settled_at} AND (settled_at < ${last.settled_at} OR execution_id > ${last.execution_id})`
      : sql.raw('');
    const { rows } = await sql<EndRow>`
      SELECT execution_id, outcome, settled_at, creator_amount, execution_time_ms FROM chain.ended_executions
      WHERE listing = ${listing} AND settled_at >= ${from} ${before}
      ORDER BY settled_at DESC, execution_id LIMIT ${SLICE}`.execute(views);
    for (const row of rows) add(days, row);
    last = rows.at(-1);
    if (!last || rows.length < SLICE) return days;
    await setImmediate();
  }
}

interface EndRow {
  execution_id: string;
  outcome: AgentOutcome['outcome'];
  settled_at: bigint;
  creator_amount: bigint;
  execution_time_ms: bigint | null;
}

function add(days: Map<number, Day>, row: EndRow): void {
  const number = Math.floor(Number(row.settled_at) / DAY_SECONDS);
  const day = days.get(number) ?? { completed: 0, failed: 0, earned: 0n, times: [] };
  days.set(number, day);
  day.earned += row.creator_amount;
  if (row.outcome === 'failed' || row.outcome === 'dispute_upheld') day.failed += 1;
  if (row.outcome !== 'completed' && row.outcome !== 'disputed') return;
  day.completed += 1;
  if (row.execution_time_ms !== null) day.times.push(Number(row.execution_time_ms));
}

function toDay(day: number, read: Day | undefined): ListingDay {
  const times = (read?.times ?? []).toSorted((one, other) => one - other);
  // The nearest rank, as for an agent's health.
  const percentile = (share: number) => times[Math.ceil(times.length * share) - 1] ?? null;
  return {
    day: new Date(day * DAY_SECONDS * 1_000).toISOString().slice(0, 10),
    completed: read?.completed ?? 0,
    failed: read?.failed ?? 0,
    earned_usdc: toUsdc(read?.earned ?? 0n),
    p50_ms: percentile(0.5),
    p95_ms: percentile(0.95),
  };
}
