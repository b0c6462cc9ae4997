/** Outcomes of a listing's executions by day; earnings and failures only for its creator. */
import { attachedIndex } from '../../../indexer/queries/read.ts';
import type { AgentDayRow } from '../../../indexer/queries/tables.ts';
import type { ListingDay, ListingFailure } from '../../sdk/wire/procedures.ts';
import { DAY_SECONDS, dayOf, toDay, toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { type AgentFigures, type AgentStatistics, REFUND_REASON_NAMES } from '../../sdk/wire/wire.ts';
import { readFailures } from '../ledger/executions.ts';
import type { Databases } from '../ledger/tables.ts';
import type { ChainClock } from '../waiting.ts';
import { CREATOR_REASONS } from './agentHealth.ts';
import { type AgentDeps, requireListing } from './catalog.ts';
import { requireOwn } from './ownListings.ts';

type StatisticsDeps = Pick<Databases, 'views'> & ChainClock;

const PUBLIC_DAYS = 30;

/**
 * GET /v1/agents/{agent_id}/statistics: 30 UTC days up to today, and their sums. Throws ApiError 404 if there is no such
 * agent.
 */
export async function readAgentStatistics(deps: AgentDeps & StatisticsDeps, agentId: string): Promise<AgentStatistics> {
  const { listing } = await requireListing(deps, agentId);
  const last = today(deps);
  const first = last - PUBLIC_DAYS + 1;
  const rows = await readDays(deps.views, listing, { first, last });
  const refunds = REFUND_REASON_NAMES.map((name, number) => ({
    reason: name,
    executions: count(rows.filter(({ reason }) => reason === BigInt(number))),
  }));
  return {
    agent_id: listing,
    from: toDay(first),
    to: toDay(last),
    days: Array.from({ length: PUBLIC_DAYS }, (_, index) => {
      return { day: toDay(first + index), ...figuresOf(rowsOf(rows, first + index)) };
    }),
    total: figuresOf(rows),
    refunds: refunds.filter(({ executions }) => executions > 0).sort((one, other) => other.executions - one.executions),
  };
}

/**
 * UTC days up to today, and the reasons of failures in them. Throws ApiError 404 for everybody but the listing's
 * creator.
 */
export async function readStatistics(
  { views, accounts }: StatisticsDeps,
  wallet: string,
  { agent_id: agentId, days }: { agent_id: string; days: number },
): Promise<{ days: ListingDay[]; failures: ListingFailure[] }> {
  await requireOwn(views, wallet, agentId);
  const last = today({ accounts });
  const first = last - days + 1;
  const all = await readDays(views, agentId, { first, last });
  const failures = await readFailures(views, agentId, first * Number(DAY_SECONDS), CREATOR_REASONS);
  return {
    days: Array.from({ length: days }, (_, index) => {
      const rows = rowsOf(all, first + index);
      const { completed, failed, p50_ms, p95_ms } = figuresOf(rows);
      const earned_usdc = toUsdc(rows.reduce((sum, { earned }) => sum + earned, 0n));
      return { day: toDay(first + index), completed, failed, earned_usdc, p50_ms, p95_ms };
    }),
    failures: failures.map(({ code, message, count, last_at }) => {
      return { code, message, count: Number(count), last_at: toTime(last_at) };
    }),
  };
}

const today = ({ accounts }: ChainClock): number => dayOf(accounts.clock());

/** Reads at most some dozens of rows a day, however many executions ended. */
function readDays(
  views: StatisticsDeps['views'],
  listing: string,
  { first, last }: { first: number; last: number },
): Promise<AgentDayRow[]> {
  return attachedIndex(views)
    .selectFrom('agent_days')
    .selectAll()
    .where('listing', '=', listing)
    .where('day', '>=', BigInt(first))
    .where('day', '<=', BigInt(last))
    .execute();
}

const rowsOf = (rows: readonly AgentDayRow[], day: number) => rows.filter((row) => row.day === BigInt(day));
const count = (rows: readonly AgentDayRow[]): number =>
  Number(rows.reduce((sum, { executions }) => sum + executions, 0n));

const COMPLETED: readonly string[] = ['completed', 'disputed'];
const FAILED: readonly string[] = ['failed', 'dispute_upheld'];

function figuresOf(rows: readonly AgentDayRow[]): AgentFigures {
  const completed = rows.filter(({ outcome }) => COMPLETED.includes(outcome));
  const failed = count(rows.filter(({ outcome }) => FAILED.includes(outcome)));
  const refunded = count(rows.filter(({ outcome }) => outcome === 'refunded'));
  const total = count(completed) + failed;
  const timed = completed
    .filter(({ time_ms }) => time_ms >= 0n)
    .sort((one, other) => Number(one.time_ms - other.time_ms));
  return {
    completed: count(completed),
    failed,
    refunded,
    success_rate: total === 0 ? null : count(completed) / total,
    p50_ms: percentileOf(timed, 0.5),
    p95_ms: percentileOf(timed, 0.95),
  };
}

/** The nearest rank, as for an agent's health; null without rows. */
function percentileOf(sorted: readonly AgentDayRow[], share: number): number | null {
  let left = Math.ceil(count(sorted) * share);
  for (const { executions, time_ms } of sorted) {
    left -= Number(executions);
    if (left <= 0) return Number(time_ms);
  }
  return null;
}
