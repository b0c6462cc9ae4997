/** Where a call stands that came before, and the errors by which one is told of the other. */
import { ApiError } from '../errors.ts';
import { type ExecutionState, isWaiting, type JournalRow } from '../ledger/tables.ts';

/** When a request that repeats one in progress may come again. */
const RETRY_SECONDS = 1;

/** Where a call stands for those who ask again. */
export type Standing = 'unpaid' | 'unknown' | 'running' | 'ended';

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
export function standingOf(row: Pick<JournalRow, 'state' | 'refund_state'>): Standing {
  const standing = STANDINGS[row.state];
  return standing === 'running' && isWaiting(row) ? 'ended' : standing;
}

/** 409 for a request whose first one has not ended. */
export function inProgress(executionId: string): ApiError {
  return new ApiError('request_in_progress', 'This request came before and has not ended yet', {
    executionId,
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** 422 for a key that came with another request. */
export function reused(executionId: string): ApiError {
  return new ApiError('idempotency_key_reused', 'This Idempotency-Key was used before with another agent or body', {
    executionId,
  });
}

/** 410 for what was paid and whose result is not here. */
export function lostResult(executionId: string): ApiError {
  const message = 'This execution is completed and paid, and its result is no longer here';
  return new ApiError('result_unavailable', message, { executionId });
}
