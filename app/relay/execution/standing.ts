/** The standing of an earlier call, and the errors that tell a repeated request about it. */
import { ApiError } from '../errors.ts';
import { type ExecutionState, isWaiting, type JournalRow } from '../ledger/tables.ts';

/** Retry delay for a request that repeats one in progress. */
const RETRY_SECONDS = 1;

/** The standing of a call, for repeated requests. */
export type Standing = 'unpaid' | 'unknown' | 'running' | 'ended';

const STANDINGS: Record<ExecutionState, Standing> = {
  void: 'unpaid',
  accepted: 'unknown',
  deposit_signed: 'unknown',
  deposit_confirmed: 'unknown',
  pay_signed: 'unknown',
  paid: 'running',
  returning: 'running',
  returned: 'ended',
  open_signed: 'unknown',
  open_confirmed: 'running',
  dispatched: 'running',
  verified: 'running',
  refunding: 'running',
  parked: 'running',
  settled: 'ended',
  refunded: 'ended',
};

/** A failed call has ended when its money is back, or when its refund waits only for the caller's own account. */
export function standingOf(row: Pick<JournalRow, 'state' | 'refund_state'>): Standing {
  const standing = STANDINGS[row.state];
  return standing === 'running' && isWaiting(row) ? 'ended' : standing;
}

/** The 409 for a repeat of a request that has not ended. */
export function inProgress(executionId: string): ApiError {
  return new ApiError(
    'request_in_progress',
    `An earlier request for this call is still in progress. Retry in ${RETRY_SECONDS} s.`,
    {
      executionId,
      retryAfterSeconds: RETRY_SECONDS,
    },
  );
}

/** The 422 for a key that was used with another request. */
export function reused(executionId: string | null): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    'This Idempotency-Key or payment was used before with another agent or body. Use a new one for a new call.',
    {
      executionId,
    },
  );
}

/** The 410 for a paid execution whose result is not here. */
export function lostResult(executionId: string): ApiError {
  const message = 'The call was completed and paid, but this service no longer has its result';
  return new ApiError('result_unavailable', message, { executionId });
}
