/** Adds an ended execution to the figures of its listing by the day. */

import type { AgentDayRow, EndedExecutionRow, ExecutionRow } from '../queries/tables.ts';

export const DAY_COLUMNS = ['listing', 'day', 'outcome', 'reason', 'time_ms', 'executions', 'earned'] as const;

export const SECONDS_PER_DAY = 86_400n;
const NONE = -1n;

export function dayKey({ listing, day, outcome, reason, time_ms }: AgentDayRow): string {
  return `${listing} ${day} ${outcome} ${reason} ${time_ms}`;
}

/** Adds nothing while the execution is open, or if the time of its end is unknown. */
export function addDay(
  days: Map<string, AgentDayRow>,
  row: ExecutionRow,
  outcome: EndedExecutionRow['outcome'] | null,
  sign: 1n | -1n,
): void {
  if (outcome === null || row.settled_at === null) return;
  const isRefund = row.status === 'refunded';
  const change: AgentDayRow = {
    listing: row.listing,
    day: row.settled_at / SECONDS_PER_DAY,
    outcome,
    reason: isRefund ? (row.reason ?? NONE) : NONE,
    time_ms: isRefund || row.execution_time_ms === null ? NONE : twoDigits(row.execution_time_ms),
    executions: sign,
    earned: sign * row.creator_amount,
  };
  const key = dayKey(change);
  const known = days.get(key);
  if (!known) return void days.set(key, change);
  known.executions += change.executions;
  known.earned += change.earned;
}

/** Rounded to two significant digits, half up: at most 5 % off. */
function twoDigits(ms: bigint): bigint {
  let unit = 1n;
  while (ms >= 100n * unit) unit *= 10n;
  return ((ms + unit / 2n) / unit) * unit;
}
