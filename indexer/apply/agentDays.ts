/** Adds an ended execution to the figures of its listing, and of all listings, by the day. */

import type { AgentDayRow, EndedExecutionRow, ExecutionRow } from '../queries/tables.ts';

export const DAY_COLUMNS = ['listing', 'day', 'outcome', 'reason', 'time_ms', 'executions', 'paid', 'earned'] as const;
/** Those of them that add up. */
export const DAY_SUMS = ['executions', 'paid', 'earned'] as const;

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
  const change = {
    day: row.settled_at / SECONDS_PER_DAY,
    outcome,
    reason: isRefund ? (row.reason ?? NONE) : NONE,
    time_ms: isRefund || row.execution_time_ms === null ? NONE : twoDigits(row.execution_time_ms),
    executions: sign,
    paid: isRefund ? 0n : sign * row.price,
    earned: sign * row.creator_amount,
  };
  for (const listing of [row.listing, '']) {
    const added = { listing, ...change };
    const key = dayKey(added);
    const known = days.get(key);
    if (!known) {
      days.set(key, added);
      continue;
    }
    for (const sum of DAY_SUMS) known[sum] += added[sum];
  }
}

/** Rounded to two significant digits, half up: at most 5 % off. */
function twoDigits(ms: bigint): bigint {
  let unit = 1n;
  while (ms >= 100n * unit) unit *= 10n;
  return ((ms + unit / 2n) / unit) * unit;
}
