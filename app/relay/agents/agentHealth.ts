/**
 * Measures the recent health of an agent's server from its real executions. Its listing shows the health.
 *
 * It counts the last 50 executions that were paid, or failed by the creator's fault. A timeout is the creator's fault
 * only if the caller allowed the listing's whole timeout. Each wallet has the same weight, however often it calls.
 * Failures of fewer than 3 wallets have no effect, because provoking them costs nothing.
 *
 * Degraded: at least 5 executions, with less than 80 % success as the mean over wallets.
 */
import type { OpenDatabase } from '../../database/open.ts';
import { REFUND_REASONS } from '../../sdk/program/program.ts';
import type { AgentHealth } from '../../sdk/wire/wire.ts';
import { createOutcomeReader } from '../ledger/executions.ts';
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
  durationMs: number | null;
}

export type AgentHealthReader = ReturnType<typeof createAgentHealth>;

/** Reads the ledger each time: each statement takes at most a few hundredths of a millisecond. */
export function createAgentHealth(ledger: OpenDatabase<LedgerTables>) {
  const readLast = createOutcomeReader(ledger, CREATOR_REASONS);
  return {
    async healthOf(listing: string): Promise<AgentHealth> {
      const rows = await readLast(listing, RECENT);
      return summarize(
        rows.map((row) => ({
          wallet: row.wallet,
          success: row.state === 'settled',
          durationMs: row.execution_time_ms === null ? null : Number(row.execution_time_ms),
        })),
      );
    },
  };
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

function summarize(outcomes: Outcome[]): AgentHealth {
  const successes = outcomes.filter((outcome) => outcome.success);
  const shares = [...walletsOf(outcomes).values()];
  const rate = shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const isBad = rate !== null && outcomes.length >= MIN_RECENT && rate < DEGRADED_BELOW;
  const isFailing = isBad && shares.filter((share) => share < 1).length >= MIN_WALLETS;
  const durations = successes.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  durations.sort((a, b) => a - b);
  return {
    status: isFailing ? 'degraded' : 'ok',
    success_rate_recent: rate,
    p50_ms: percentile(durations, 0.5),
    p95_ms: percentile(durations, 0.95),
  };
}

/** The nearest rank; null if empty. */
function percentile(sorted: number[], share: number): number | null {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
}
