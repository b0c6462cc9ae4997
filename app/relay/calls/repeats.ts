// What a call is answered that came before, by where the first one stands: the one place that decides it, for execute
// with an Idempotency-Key and for start, whose execution_id names the call itself. /docs says the same in words.

import { type ExecutionRow, type ExecutionState, isWaiting } from '../ledger/tables.ts';

/** Where a call stands for whoever asks again. */
export type Standing = 'unpaid' | 'unknown' | 'running' | 'ended';

/**
 * `run`: as if it were the first (start: as the record decides); `wait`: 409 until more is known; `pending`: the answer
 * that an asynchronous call has while it runs, never kept as its last; `end`: how it ended, the same bytes each time.
 */
export type RepeatAnswer = 'run' | 'wait' | 'pending' | 'end';

/** Another body, or another agent, is 422 in every standing but `unpaid`. */
export const REPEATS: Record<Standing, Record<'sync' | 'async', RepeatAnswer>> = {
  unpaid: { sync: 'run', async: 'run' },
  unknown: { sync: 'wait', async: 'wait' },
  running: { sync: 'wait', async: 'pending' },
  ended: { sync: 'end', async: 'end' },
};

const STANDINGS: Record<ExecutionState, Standing> = {
  void: 'unpaid',
  accepted: 'unknown',
  open_signed: 'unknown',
  open_confirmed: 'running',
  dispatched: 'running',
  verified: 'running',
  refunding: 'running',
  parked: 'running',
  settled: 'ended',
  refunded: 'ended',
};

/** A call that failed has ended when its money is back, or waits for nothing but the caller's own account. */
export function standingOf(row: Pick<ExecutionRow, 'state' | 'refund_state'>): Standing {
  const standing = STANDINGS[row.state];
  return standing === 'running' && isWaiting(row) ? 'ended' : standing;
}
