/** The error that callers see, its body, and its mapping from the program's errors. */
import { isTemporary } from '../database/temporary.ts';
import { findSpender, parseAddress } from '../sdk/program/program.ts';
import type { SpendingLimit } from '../sdk/wire/errorDetails.ts';
import { toUsdc } from '../sdk/wire/usdc.ts';
import { type ErrorBody, type ErrorCode, type ErrorDetails, errorBodyOf } from '../sdk/wire/wire.ts';

/** A PostgreSQL that was stopped or killed is back after some seconds, or after a person restarts it. */
const RETRY_DATABASE_SECONDS = 5;

interface ApiErrorOptions<Code extends ErrorCode> {
  executionId?: string | null;
  details?: ErrorDetails<Code>;
  retryAfterSeconds?: number | undefined;
}

/** Codes with required `details`; the compiler enforces them. */
type Detailed = { [Code in ErrorCode]: null extends ErrorDetails<Code> ? never : Code }[ErrorCode];

/** An error answer. `code` decides status and shape of `details` by the table in `sdk/errorCodes.ts`. */
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

/** The body of an error by the specification. */
export function errorBody(error: ApiError): ErrorBody {
  const { code, message, executionId, details } = error;
  return errorBodyOf(code).parse({ error: { code, message, execution_id: executionId, details } });
}

/** 503 if the node does not answer, which ends a call before any money moves. */
export function chainUnreadable(error?: unknown): never {
  // For example, the budget for unpaid reads has its own retry delay.
  if (error instanceof ApiError) throw error;
  throw new ApiError('service_unavailable', 'The Solana node does not answer', { retryAfterSeconds: 5 });
}

/** 503 if the database was unreachable, full or overloaded; null for any other error. */
export function databaseAway(error: unknown): ApiError | null {
  if (!isTemporary(error)) return null;
  return new ApiError('service_unavailable', 'The database does not answer', {
    retryAfterSeconds: RETRY_DATABASE_SECONDS,
  });
}

/** The text of a 500. */
export const internalError = (requestId: string): string =>
  `Internal error, logged as ${requestId}. Quote this id when you report it to the operator.`;

/** What to say about an allowance that is too small: refunded calls are the usual reason. */
export const withRenewal = (message: string): string =>
  `${message.replace(/\.$/, '')}. Each call takes its price from the allowance, and a refund does not give it back. ` +
  'The wallet renews it on the page "API keys" or with `keys allowance`.';

const LIMIT_BY_PROGRAM_ERROR: Record<string, SpendingLimit> = {
  InsufficientBalance: 'balance',
  InsufficientAllowance: 'allowance',
  GrantPerExecutionExceeded: 'per_execution',
  GrantPeriodExceeded: 'period',
  GrantTotalExceeded: 'total',
  GrantGasExceeded: 'gas',
  GasBalanceTooLow: 'gas',
  GasBalanceBelowRent: 'gas',
};

/** The 429 for what was asked too often. */
export const tooOften = (what: string, waitMs: number): ApiError =>
  retryLater(what, waitMs / 1_000, null, 'rate_limited');

/** The 503 for what cannot be done now. */
export function retryLater(
  why: string,
  afterSeconds: number,
  executionId: string | null = null,
  code: 'service_unavailable' | 'rate_limited' = 'service_unavailable',
): ApiError {
  const seconds = Math.max(1, Math.ceil(afterSeconds));
  return new ApiError(code, `${why} Retry in ${seconds} s.`, { executionId, retryAfterSeconds: seconds });
}

/** One text for every invalid key: it must not reveal if the key ever existed. */
export const INVALID_KEY = 'The API key is not valid. It is malformed, unknown, revoked or expired.';

/** The journal's data of a call that the program refused. Amounts in base units. */
interface RefusedCall {
  execution_id: string;
  wallet: string;
  price: bigint;
  max_cost: bigint;
}

/**
 * The caller's error if the program refused to open its execution, by the program's error name. An unknown name becomes
 * a 503, because it is not the caller's fault.
 */
export function openRefused(programError: string | null, message: string, call: RefusedCall): ApiError {
  const executionId = call.execution_id;
  const limit = programError === null ? undefined : LIMIT_BY_PROGRAM_ERROR[programError];
  // The accounts changed after they were checked, and may have changed again since.
  if (limit === 'gas') {
    const gasBalance = findSpender(parseAddress(call.wallet)).toBase58();
    const details = {
      limit,
      wallet: call.wallet,
      gas_balance_address: gasBalance,
      have_lamports: null,
      need_lamports: null,
    };
    return new ApiError('insufficient_balance', message, { executionId, details });
  }
  if (limit !== undefined) {
    const details = { limit, wallet: call.wallet, have_usdc: null, need_usdc: toUsdc(call.price), renews_at: null };
    const text = limit === 'allowance' ? withRenewal(message) : message;
    return new ApiError('insufficient_balance', text, { executionId, details });
  }
  switch (programError) {
    case 'PriceAboveMax':
    case 'ListingVersionMismatch':
      return new ApiError('price_changed', `The agent's listing changed during the call: ${message}`, {
        executionId,
        details: { price_usdc: null, max_cost_usdc: toUsdc(call.max_cost) },
      });
    case 'ListingNotActive':
      return new ApiError('agent_paused', 'The agent is paused', { executionId });
    case 'TimeoutOutOfRange':
      return new ApiError('invalid_request', message, {
        executionId,
        details: {
          issues: [
            { in: 'body', path: 'timeout_seconds', expected: "must be within the agent's limits", got: 'another' },
          ],
        },
      });
    case 'GrantRevoked':
    case 'GrantExpired':
      return new ApiError('unauthorized', INVALID_KEY, { executionId });
    default:
      return new ApiError('service_unavailable', `The escrow could not be opened: ${message}`, {
        executionId,
        retryAfterSeconds: 5,
      });
  }
}
