/** The errors of every client. Separate from the schemas of answers, so that a page can load those later. */
import type { ErrorCode, ErrorDetails } from './types.ts';

/** Codes of what is no error answer of the marketplace. */
export type ClientCode = 'connection_failed' | 'timeout' | 'wait_timeout' | 'unexpected_answer';

/**
 * The base of all errors. An error never proves that a call was not paid, unless its class says so. Codes and details of
 * a newer marketplace come as they are; `hasCode` narrows both.
 */
export class MarketplaceError extends Error {
  override name = 'MarketplaceError';
  /** The key of a paid call. The same call with this key never pays twice, and gets the first outcome. */
  idempotencyKey: string | null = null;
  constructor(
    /** HTTP status; null without an answer, and if the error is in a stream or in the record of an execution. */
    readonly status: number | null,
    readonly code: ErrorCode | ClientCode | (string & {}),
    message: string,
    /** The execution that the error is about, if it is known. */
    public executionId: string | null,
    /** X-Request-Id, to find the request in the logs. */
    readonly requestId: string | null = null,
    /** What `message` says, for programs; null if there is nothing more. */
    readonly details: Record<string, unknown> | null = null,
    /** Seconds after which the service allows a retry. */
    readonly retryAfterSeconds: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** No answer came, although the request was repeated. It is unknown if a paid call ran: repeat it with its key. */
export class APIConnectionError extends MarketplaceError {
  override name = 'APIConnectionError';
}
/** No answer came in time. It is unknown if a paid call ran: repeat it with its key. */
export class APITimeoutError extends APIConnectionError {
  override name = 'APITimeoutError';
}
/** The `timeout` of `run` or `wait` is over, and the execution goes on. Wait again, or repeat the call with its key. */
export class WaitTimeoutError extends MarketplaceError {
  override name = 'WaitTimeoutError';
}
/** Not an answer of a marketplace, but for example a page of a load balancer. The outcome of a call is unknown. */
export class UnexpectedAnswerError extends MarketplaceError {
  override name = 'UnexpectedAnswerError';
}
/** An error answer of the marketplace. Codes that this version does not know are of this class itself. */
export class APIStatusError extends MarketplaceError {
  override name = 'APIStatusError';
}
/** The request is wrong; `details.issues` of `invalid_request` names every fault. Nothing was charged. */
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
/** The wallet, its key or its gas balance cannot pay: `details.limit` names the limit. Nothing was charged. */
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
/** The creator has paused the agent. Nothing was charged. */
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
/** Too many requests: retry after `retryAfterSeconds`. Nothing was charged. */
export class RateLimitError extends APIStatusError {
  override name = 'RateLimitError';
}
/** The service cannot do it now. Repeat a paid call with its key. */
export class ServiceUnavailableError extends APIStatusError {
  override name = 'ServiceUnavailableError';
}
/** The service has a fault. The outcome is unknown: repeat a paid call with its key. */
export class InternalServerError extends APIStatusError {
  override name = 'InternalServerError';
}

/** A code without a class does not compile. */
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

/** An error of this code, in its class. Takes what MarketplaceError takes. */
export function statusError(
  ...[status, code, ...rest]: ConstructorParameters<typeof MarketplaceError>
): APIStatusError {
  const Class = Object.hasOwn(CLASSES, code) ? CLASSES[code as ErrorCode] : APIStatusError;
  return new Class(status, code, ...rest);
}

/** True for an error of this code, whose `details` then have their type. */
export function hasCode<Code extends ErrorCode | ClientCode>(
  error: unknown,
  code: Code,
): error is MarketplaceError & { code: Code; details: Code extends ErrorCode ? ErrorDetails<Code> : null } {
  return error instanceof MarketplaceError && error.code === code;
}
