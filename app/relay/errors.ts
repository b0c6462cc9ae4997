/** The one error that callers see, its body, and how the program's refusals become it. */
import { isTemporary } from '../database/temporary.ts';
import { findSpender, parseAddress } from '../sdk/program/program.ts';
import type { SpendingLimit } from '../sdk/wire/errorCodes.ts';
import { toUsdc } from '../sdk/wire/usdc.ts';
import { type ErrorBody, type ErrorCode, type ErrorDetails, errorBodyOf } from '../sdk/wire/wire.ts';

/** A PostgreSQL that was stopped or killed is back after some seconds, or after somebody was woken. */
const RETRY_DATABASE_SECONDS = 5;

interface ApiErrorOptions<Code extends ErrorCode> {
  executionId?: string | null;
  details?: ErrorDetails<Code>;
  retryAfterSeconds?: number | undefined;
}

/** Codes whose `details` are never null: the compiler asks for them. */
type Detailed = { [Code in ErrorCode]: null extends ErrorDetails<Code> ? never : Code }[ErrorCode];

/** An answer that is an error. `code` decides status and shape of `details` by the table in `sdk/errorCodes.ts`. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly executionId: string | null;
  readonly details: ErrorDetails | null;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: Code,
    message: string,
    ...[options = {}]: Code extends Detailed
      ? [ApiErrorOptions<Code> & { details: ErrorDetails<Code> }]
      : [ApiErrorOptions<Code>?]
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.executionId = options.executionId ?? null;
    this.details = options.details ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The specification's body of an error. */
export function errorBody(error: ApiError): ErrorBody {
  const { code, message, executionId, details } = error;
  return errorBodyOf(code).parse({ error: { code, message, execution_id: executionId, details } });
}

/** 503 where the node does not answer: before any money moves, that ends a call. */
export function chainUnreadable(error?: unknown): never {
  // Such as the edge's own budget of readings, which says when to come back.
  if (error instanceof ApiError) throw error;
  throw new ApiError('service_unavailable', 'The chain cannot be read at the moment', { retryAfterSeconds: 5 });
}

/** 503 for a request whose own statement found the database away, full or overloaded; null for any other fault. */
export function databaseAway(error: unknown): ApiError | null {
  if (!isTemporary(error)) return null;
  return new ApiError('service_unavailable', 'The database cannot be used at the moment', {
    retryAfterSeconds: RETRY_DATABASE_SECONDS,
  });
}

const LIMIT_BY_PROGRAM_ERROR: Record<string, SpendingLimit> = {
  InsufficientBalance: 'balance',
  InsufficientAllowance: 'allowance',
  GrantPerExecutionExceeded: 'per_execution',
  GrantPeriodExceeded: 'period',
  GrantTotalExceeded: 'total',
  GrantGasExceeded: 'gas',
  TankTooLow: 'gas',
  TankBelowRent: 'gas',
};

/** What the journal knows of a call that the program refused. Amounts in base units. */
interface RefusedCall {
  execution_id: string;
  wallet: string;
  price: bigint;
  max_cost: bigint;
}

/**
 * What a caller is told when the program refused to open its execution. The name is the program's own;
 * an unknown one is not the caller's fault.
 */
export function openRefused(programError: string | null, message: string, call: RefusedCall): ApiError {
  const executionId = call.execution_id;
  const limit = programError === null ? undefined : LIMIT_BY_PROGRAM_ERROR[programError];
  // The accounts changed after they were checked, and may have changed again since.
  if (limit === 'gas') {
    const tank = findSpender(parseAddress(call.wallet)).toBase58();
    const details = { limit, wallet: call.wallet, tank, have_lamports: null, need_lamports: null };
    return new ApiError('insufficient_balance', message, { executionId, details });
  }
  if (limit !== undefined) {
    const details = { limit, wallet: call.wallet, have_usdc: null, need_usdc: toUsdc(call.price), renews_at: null };
    return new ApiError('insufficient_balance', message, { executionId, details });
  }
  switch (programError) {
    case 'PriceAboveMax':
    case 'ListingVersionMismatch':
      return new ApiError('price_changed', `The agent's listing changed while the call was made: ${message}`, {
        executionId,
        details: { price_usdc: null, max_cost_usdc: toUsdc(call.max_cost) },
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
