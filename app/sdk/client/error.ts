/** The errors of every client. Not beside the schemas of answers, so that a page can load the schemas later. */
import type { ErrorCode, ErrorDetails } from './types.ts';

/** Codes of errors that are not an error answer of the marketplace. */
export type ClientCode = 'connection_failed' | 'timeout' | 'wait_timeout' | 'unexpected_answer';

/**
 * Base class of all errors. An error proves that a call was not paid only if its class says so. Codes and details that
 * this version does not know are passed through. `hasCode` narrows the types of both.
 */
export class MarketplaceError extends Error {
  override name = 'MarketplaceError';
  /** Idempotency key of the paid call. The same call with this key never pays twice and gets the first outcome. */
  idempotencyKey: string | null = null;
  constructor(
    /** HTTP status. Null if there was no answer, or if the error came in a stream or in an execution's record. */
    readonly status: number | null,
    readonly code: ErrorCode | ClientCode | (string & {}),
    message: string,
    /** The execution that the error is about, if it is known. */
    public executionId: string | null,
    /** X-Request-Id, to find the request in the logs. */
    readonly requestId: string | null = null,
    /** The facts of `message` for programs; null if there are none. */
    readonly details: Record<string, unknown> | null = null,
    /** Seconds after which the service allows a retry. */
    readonly retryAfterSeconds: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** No answer came, even after retries. A paid call may have run: retry it with its idempotency key. */
export class APIConnectionError extends MarketplaceError {
  override name = 'APIConnectionError';
}
/** No answer came in time. A paid call may have run: retry it with its idempotency key. */
export class APITimeoutError extends APIConnectionError {
  override name = 'APITimeoutError';
}
/** The `timeout` of `run` or `wait` passed, and the execution continues. Wait again, or retry the call with its key. */
export class WaitTimeoutError extends MarketplaceError {
  override name = 'WaitTimeoutError';
}
/** The answer is not from a marketplace, for example a load balancer's page. The outcome of a call is unknown. */
export class UnexpectedAnswerError extends MarketplaceError {
  override name = 'UnexpectedAnswerError';
}
/** An error answer of the marketplace. A code that this version does not know has this class itself. */
export class APIStatusError extends MarketplaceError {
  override name = 'APIStatusError';
}
/** The request is wrong. For `invalid_request`, `details.issues` lists every fault. Nothing was charged. */
export class InvalidRequestError extends APIStatusError {
  override name = 'InvalidRequestError';
}
/** The API key is missing, unknown, revoked, expired, or of the other environment. Nothing was charged. */
export class AuthenticationError extends APIStatusError {
  override name = 'AuthenticationError';
}
/** The key is valid but restricted. Nothing was charged. */
export class PermissionDeniedError extends APIStatusError {
  override name = 'PermissionDeniedError';
}
/** The wallet, its key or its gas balance cannot pay. `details.limit` names the limit. Nothing was charged. */
export class InsufficientBalanceError extends APIStatusError {
  override name = 'InsufficientBalanceError';
}
/** The agent costs more than the limit, or its terms changed during the call. Nothing was charged. */
export class PriceChangedError extends APIStatusError {
  override name = 'PriceChangedError';
}
/** There is no such agent, execution or route, or it belongs to another wallet. */
export class NotFoundError extends APIStatusError {
  override name = 'NotFoundError';
}
/** The state of the execution does not allow this now. */
export class ConflictError extends APIStatusError {
  override name = 'ConflictError';
}
/** The execution was completed and paid, but the service no longer has its result. */
export class ResultUnavailableError extends APIStatusError {
  override name = 'ResultUnavailableError';
}
/** The agent is paused. Nothing was charged. */
export class AgentPausedError extends APIStatusError {
  override name = 'AgentPausedError';
}
/** The agent failed or gave no valid signed answer. The escrow is refunded in full. */
export class ExecutionFailedError extends APIStatusError {
  override name = 'ExecutionFailedError';
}
/** The agent did not answer in time. The escrow is refunded in full. */
export class ExecutionTimeoutError extends APIStatusError {
  override name = 'ExecutionTimeoutError';
}
/** Too many requests. Retry after `retryAfterSeconds`. Nothing was charged. */
export class RateLimitError extends APIStatusError {
  override name = 'RateLimitError';
}
/** The service cannot handle the request now. Retry a paid call with its key. */
export class ServiceUnavailableError extends APIStatusError {
  override name = 'ServiceUnavailableError';
}
/** The service has an internal error. The outcome is unknown: retry a paid call with its key. */
export class InternalServerError extends APIStatusError {
  override name = 'InternalServerError';
}

/** A missing code is a compile error. */
const CLASSES: Record<ErrorCode, typeof APIStatusError> = {
  invalid_request: InvalidRequestError,
  unauthorized: AuthenticationError,
  wrong_environment: AuthenticationError,
  insufficient_balance: InsufficientBalanceError,
  payment_required: InsufficientBalanceError,
  payment_id_reused: ConflictError,
  insufficient_scope: PermissionDeniedError,
  address_not_allowed: PermissionDeniedError,
  agent_not_allowed: PermissionDeniedError,
  not_admin: PermissionDeniedError,
  foreign_origin: PermissionDeniedError,
  agent_not_found: NotFoundError,
  execution_not_found: NotFoundError,
  webhook_not_found: NotFoundError,
  not_found: NotFoundError,
  method_not_allowed: InvalidRequestError,
  execution_timeout: ExecutionTimeoutError,
  price_changed: PriceChangedError,
  request_in_progress: ConflictError,
  not_startable: ConflictError,
  not_settled: ConflictError,
  content_needed: ConflictError,
  webhook_limit_reached: ConflictError,
  result_unavailable: ResultUnavailableError,
  payload_too_large: InvalidRequestError,
  unsupported_media_type: InvalidRequestError,
  agent_paused: AgentPausedError,
  idempotency_key_reused: InvalidRequestError,
  rate_limited: RateLimitError,
  execution_failed: ExecutionFailedError,
  internal_error: InternalServerError,
  service_unavailable: ServiceUnavailableError,
  metadata_missing: ServiceUnavailableError,
};

/** An error in the class of its code. Takes the arguments of MarketplaceError. */
export function statusError(
  ...[status, code, ...rest]: ConstructorParameters<typeof MarketplaceError>
): APIStatusError {
  const Class = Object.hasOwn(CLASSES, code) ? CLASSES[code as ErrorCode] : APIStatusError;
  return new Class(status, code, ...rest);
}

/** True if the error has this code. Narrows the type of `details`. */
export function hasCode<Code extends ErrorCode | ClientCode>(
  error: unknown,
  code: Code,
): error is MarketplaceError & { code: Code; details: Code extends ErrorCode ? ErrorDetails<Code> : null } {
  return error instanceof MarketplaceError && error.code === code;
}
