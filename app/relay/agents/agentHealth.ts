/**
 * Measures the recent health of an agent's server from its real executions. Its listing shows the health. The operator
 * may set a number of failures after which new executions are refused, before money moves, until a probe succeeds.
 *
 * It counts the last 50 executions that were paid, or failed by the creator's fault. A timeout is the creator's fault
 * only if the caller allowed the listing's whole timeout. Each wallet has the same weight, however often it calls.
 * Failures of fewer than 3 wallets have no effect, because provoking them costs nothing.
 *
 * Degraded: at least 5 executions, with less than 80 % success as the mean over wallets; or refused. Refused: at least
 * the last `refuseAfter` executions all failed since the last passed probe.
 */
import type { OpenDatabase } from '../../database/open.ts';
import { REFUND_REASONS } from '../../sdk/program/program.ts';
import type { AgentHealth } from '../../sdk/wire/wire.ts';
import { ApiError } from '../errors.ts';
import { createOutcomeReader } from '../ledger/executions.ts';
import { readPassedMs } from '../ledger/probes.ts';
import type { LedgerTables } from '../ledger/tables.ts';

const RECENT = 50;
const MIN_RECENT = 5;
const DEGRADED_BELOW = 0.8;
/** Failures have an effect only if this many different wallets have seen them. */
const MIN_WALLETS = 3;
/** Numbers of refund reasons. Those below `firstOther` are the creator's fault. */
export const CREATOR_REASONS = {
  firstOther: REFUND_REASONS.indexOf('unserved'),
  timeout: REFUND_REASONS.indexOf('creatorTimeout'),
};

/** The outcome of one ended execution. */
interface Outcome {
  wallet: string;
  success: boolean;
  createdMs: number;
  durationMs: number | null;
}

export type AgentHealthReader = ReturnType<typeof createAgentHealth>;

/**
 * Reads the ledger each time: each statement takes at most a few hundredths of a millisecond. After `refuseAfter`
 * failures in a row an agent is refused; 0 turns this off.
 */
export function createAgentHealth(ledger: OpenDatabase<LedgerTables>, refuseAfter: number, retryAfterSeconds: number) {
  const readLast = createOutcomeReader(ledger, CREATOR_REASONS);
  const refused = new Set<string>();

  /** Newest first. */
  async function readOutcomes(listing: string, limit: number): Promise<Outcome[]> {
    return (await readLast(listing, limit)).map((row) => ({
      wallet: row.wallet,
      success: row.state === 'settled',
      createdMs: Number(row.created_ms),
      durationMs: row.execution_time_ms === null ? null : Number(row.execution_time_ms),
    }));
  }

  async function isRefused(listing: string, outcomes: Outcome[]): Promise<boolean> {
    // The last execution was nearly always a success, so nothing more is read.
    const isFailing = refuseAfter > 0 && outcomes[0]?.success === false;
    const failures = isFailing ? failuresInARow(outcomes, await readPassedMs(ledger.db, listing)) : [];
    const is = refuseAfter > 0 && failures.length >= refuseAfter && walletsOf(failures).size >= MIN_WALLETS;
    if (is) refused.add(listing);
    else refused.delete(listing);
    return is;
  }

  function unavailable(): ApiError {
    const message = `The agent's server failed its last ${refuseAfter} executions. Nothing was charged. Calls are accepted again when the server answers a probe.`;
    return new ApiError('service_unavailable', message, { retryAfterSeconds });
  }

  return {
    async healthOf(listing: string): Promise<AgentHealth> {
      const outcomes = await readOutcomes(listing, RECENT);
      return summarize(outcomes, await isRefused(listing, outcomes));
    },
    /** Throws 503 if new executions of the listing are refused. */
    async requireServing(listing: string): Promise<void> {
      if (refuseAfter === 0) return;
      const [last] = await readOutcomes(listing, 1);
      if (last?.success !== false) refused.delete(listing);
      else if (await isRefused(listing, await readOutcomes(listing, RECENT))) throw unavailable();
    },
    /** The listings that were found refused, and still are. */
    async refused(): Promise<string[]> {
      const still: string[] = [];
      for (const listing of refused) {
        if (await isRefused(listing, await readOutcomes(listing, RECENT))) still.push(listing);
      }
      return still;
    },
  };
}

/** The newest outcomes, back to the last success or to `sinceMs`. */
function failuresInARow(outcomes: Outcome[], sinceMs: number): Outcome[] {
  const first = outcomes.findIndex((outcome) => outcome.success || outcome.createdMs < sinceMs);
  return first < 0 ? outcomes : outcomes.slice(0, first);
}

/** The success rate of each wallet. */
function walletsOf(outcomes: Outcome[]): Map<string, number> {
  const seen = new Map<string, { all: number; good: number }>();
  for (const { wallet, success } of outcomes) {
    const { all, good } = seen.get(wallet) ?? { all: 0, good: 0 };
    seen.set(wallet, { all: all + 1, good: good + Number(success) });
  }
  return new Map([...seen].map(([wallet, { all, good }]) => [wallet, good / all]));
}

function summarize(outcomes: Outcome[], isRefused: boolean): AgentHealth {
  const successes = outcomes.filter((outcome) => outcome.success);
  const shares = [...walletsOf(outcomes).values()];
  const rate = shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const isBad = rate !== null && outcomes.length >= MIN_RECENT && rate < DEGRADED_BELOW;
  const isFailing = isBad && shares.filter((share) => share < 1).length >= MIN_WALLETS;
  const durations = successes.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  durations.sort((a, b) => a - b);
  return {
    status: isRefused || isFailing ? 'degraded' : 'ok',
    success_rate_recent: rate,
    p50_ms: percentile(durations, 0.5),
    p95_ms: percentile(durations, 0.95),
  };
}

/** The nearest rank; null if empty. */
function percentile(sorted: number[], share: number): number | null {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
}
