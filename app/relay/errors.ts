// The one error that callers see, and how the program's refusals become it.

import type { ErrorCode } from '../sdk/wire.ts';

/** An answer that is an error. `code` decides the HTTP status by the table in `sdk/wire.ts`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly executionId: string | null;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { executionId?: string | null; details?: Record<string, unknown>; retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.executionId = options.executionId ?? null;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const LIMIT_BY_PROGRAM_ERROR: Record<string, string> = {
  InsufficientBalance: 'balance',
  InsufficientAllowance: 'allowance',
  GrantPerExecutionExceeded: 'per_execution',
  GrantPeriodExceeded: 'period',
  GrantTotalExceeded: 'total',
};

/**
 * What a caller is told when the program refused to open its execution. The name is the program's own;
 * an unknown one is not the caller's fault.
 */
export function openRefused(programError: string | null, message: string, executionId: string): ApiError {
  const limit = programError === null ? undefined : LIMIT_BY_PROGRAM_ERROR[programError];
  if (limit !== undefined) {
    return new ApiError('insufficient_balance', message, { executionId, details: { limit } });
  }
  switch (programError) {
    case 'PriceAboveMax':
    case 'ListingVersionMismatch':
      return new ApiError('price_changed', `The agent's listing changed while the call was made: ${message}`, {
        executionId,
      });
    case 'ListingNotActive':
      return new ApiError('agent_paused', 'The agent is paused by its creator', { executionId });
    case 'TimeoutOutOfRange':
      return new ApiError('invalid_request', message, { executionId });
    case 'GrantRevoked':
    case 'GrantExpired':
      return new ApiError('unauthorized', 'The API key is not valid', { executionId });
    default:
      return new ApiError('service_unavailable', `The escrow could not be opened: ${message}`, {
        executionId,
        retryAfterSeconds: 5,
      });
  }
}
