/**
 * How well an agent's server has done lately, from its real executions: shown on its listing, and past a threshold a
 * reason to refuse new ones before any money moves, until a probe has been answered.
 *
 * Degraded: of the last 50 ended executions at least 5, and less than 80 % successful, or refused. Refused: the last
 * `refuseAfter` ones all failed through the creator's fault since the last probe that passed.
 */
import type { Database } from 'better-sqlite3';
import type { AgentHealth } from '../sdk/wire.ts';
import { ApiError } from './errors.ts';

const RECENT = 50;
const MIN_RECENT = 5;
const DEGRADED_BELOW = 0.8;
/** Refund reasons from here on are not the creator's fault. */
const FIRST_REASON_OF_OURS = 4;

/** How one ended execution went. */
interface Outcome {
  success: boolean;
  createdMs: number;
  durationMs: number | null;
}

export type AgentHealthReader = ReturnType<typeof createAgentHealth>;

/**
 * Reads the ledger each time anew: no statement here takes longer than a few hundredths of a
 * millisecond. `refuseAfter` failures in a row close an agent; 0 never does.
 */
export function createAgentHealth(ledger: Database, refuseAfter: number, retryAfterSeconds: number) {
  const selectOutcomes = ledger.prepare(`
    SELECT state, created_ms, execution_time_ms FROM executions
    WHERE listing = ? AND state IN ('settled', 'refunding', 'refunded')
      AND (state = 'settled' OR refund_reason < ${FIRST_REASON_OF_OURS})
    ORDER BY created_ms DESC LIMIT ?`);
  const selectPassed = ledger.prepare('SELECT passed_ms FROM probes WHERE listing = ?');
  const refused = new Set<string>();

  /** Newest first. */
  function readOutcomes(listing: string, limit: number): Outcome[] {
    const rows = selectOutcomes.all(listing, limit) as Record<string, string | bigint | null>[];
    return rows.map((row) => ({
      success: row.state === 'settled',
      createdMs: Number(row.created_ms),
      durationMs: row.execution_time_ms === null ? null : Number(row.execution_time_ms),
    }));
  }

  function isRefused(listing: string, outcomes: Outcome[]): boolean {
    const { passed_ms } = (selectPassed.get(listing) ?? { passed_ms: null }) as { passed_ms: bigint | null };
    const is = refuseAfter > 0 && failuresInARow(outcomes, Number(passed_ms ?? 0n)) >= refuseAfter;
    if (is) refused.add(listing);
    else refused.delete(listing);
    return is;
  }

  function unavailable(): ApiError {
    const message = `The agent's server has failed its last ${refuseAfter} executions and is being probed; nothing was paid`;
    return new ApiError('service_unavailable', message, { retryAfterSeconds });
  }

  return {
    healthOf(listing: string): AgentHealth {
      const outcomes = readOutcomes(listing, RECENT);
      return summarize(outcomes, isRefused(listing, outcomes));
    },
    /** Throws 503 where new executions of the listing are turned away. */
    requireServing(listing: string): void {
      if (refuseAfter === 0) return;
      // Nearly always the last one was a success, which says enough.
      const [last] = readOutcomes(listing, 1);
      if (last?.success !== false) refused.delete(listing);
      else if (isRefused(listing, readOutcomes(listing, refuseAfter))) throw unavailable();
    },
    /** Listings that were seen to be refused, until they are seen not to be. */
    refused: (): string[] => [...refused].filter((listing) => isRefused(listing, readOutcomes(listing, refuseAfter))),
  };
}

function failuresInARow(outcomes: Outcome[], sinceMs: number): number {
  const first = outcomes.findIndex((outcome) => outcome.success || outcome.createdMs < sinceMs);
  return first < 0 ? outcomes.length : first;
}

function summarize(outcomes: Outcome[], isRefused: boolean): AgentHealth {
  const successes = outcomes.filter((outcome) => outcome.success);
  const rate = outcomes.length === 0 ? null : successes.length / outcomes.length;
  const isFailing = rate !== null && outcomes.length >= MIN_RECENT && rate < DEGRADED_BELOW;
  const durations = successes.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  durations.sort((a, b) => a - b);
  return {
    status: isRefused || isFailing ? 'degraded' : 'ok',
    success_rate_recent: rate,
    p50_ms: percentile(durations, 0.5),
    p95_ms: percentile(durations, 0.95),
  };
}

/** The nearest rank; null of nothing. */
function percentile(sorted: number[], share: number): number | null {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
}
