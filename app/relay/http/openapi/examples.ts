/** One example of every error, as an answer of /v1 and of /trpc; a test holds each against its own schema. */
import { ERRORS, type ErrorCode, type ErrorDetails } from '../../../sdk/wire/wire.ts';
import { EXECUTION_ID, WALLET } from '../routes/samples.ts';

interface ErrorExample<Code extends ErrorCode> {
  message: string;
  /** Whether it is about an execution that exists. */
  execution?: true;
  details: ErrorDetails<Code>;
}

/** One answer of every code. */
const ERROR_EXAMPLES: { [Code in ErrorCode]: ErrorExample<Code> } = {
  invalid_request: {
    message: 'The field "task" is missing',
    details: { issues: [{ in: 'body', path: 'task', expected: 'must be a string', got: 'nothing' }] },
  },
  unauthorized: { message: 'The API key is not valid', details: null },
  wrong_environment: {
    message: 'This is the test environment: use a key that begins with crtx_test_, not crtx_live_',
    details: null,
  },
  insufficient_balance: {
    message: `Wallet ${WALLET} holds 0.1 USDC; this call needs 0.25 USDC`,
    details: { limit: 'balance', wallet: WALLET, have_usdc: 0.1, need_usdc: 0.25, renews_at: null },
  },
  insufficient_scope: {
    message: 'This API key does not have the scope "execute"',
    details: { needs: 'execute', has: ['read'] },
  },
  address_not_allowed: {
    message: 'This API key may not be used from the address 203.0.113.9',
    details: { address: '203.0.113.9' },
  },
  not_admin: { message: "This needs the session of the marketplace's admin", details: null },
  foreign_origin: {
    message: 'A request with the cookie of a session must come from a page of this service',
    details: { expected: 'https://marketplace.example.com' },
  },
  agent_not_found: { message: 'There is no agent with this agent_id', details: null },
  execution_not_found: { message: 'There is no execution with this execution_id', details: null },
  not_found: { message: 'There is no result at this address', details: null },
  method_not_allowed: {
    message: 'DELETE is not allowed here; use GET, HEAD, OPTIONS',
    details: { allowed: ['GET', 'HEAD', 'OPTIONS'] },
  },
  execution_timeout: {
    message: 'The agent did not respond within 30 seconds. Escrow refunded',
    execution: true,
    details: null,
  },
  price_changed: {
    message: 'The agent costs 0.3 USDC, more than the 0.25 USDC of max_cost_usdc',
    details: { price_usdc: 0.3, max_cost_usdc: 0.25 },
  },
  request_in_progress: {
    message: 'This request came before and has not ended yet',
    execution: true,
    details: null,
  },
  not_startable: {
    message: 'The execution has ended',
    execution: true,
    details: { reason: 'ended' },
  },
  not_settled: {
    message: 'The execution has not been settled yet',
    execution: true,
    details: { status: 'running' },
  },
  result_unavailable: {
    message: 'This execution is completed and paid, and its result is no longer here',
    execution: true,
    details: null,
  },
  payload_too_large: { message: 'The body must be at most 1048576 bytes', details: { max_bytes: 1_048_576 } },
  unsupported_media_type: {
    message: 'Send the body with the header Content-Type: application/json',
    details: { content_type: 'application/json', content_encoding: 'identity' },
  },
  agent_paused: { message: 'The agent is paused by its creator', details: null },
  idempotency_key_reused: {
    message: 'This Idempotency-Key was used before with another agent or body',
    execution: true,
    details: null,
  },
  rate_limited: {
    message: 'More than 50 requests a second without a valid API key came from this address',
    details: null,
  },
  execution_failed: {
    message: "The creator's service reported a failure: out of luck. Escrow refunded",
    execution: true,
    details: null,
  },
  internal_error: {
    message: 'Something went wrong here; it was logged as 0b0e4a52-6f2c-4d0b-8a55-2f6d3f1f7c10',
    details: null,
  },
  service_unavailable: { message: 'The chain cannot be read at the moment', details: null },
  metadata_missing: { message: "The agent's description has not reached this service", details: null },
};

/** A whole error answer of /trpc. */
export function procedureErrorExample(code: ErrorCode, number: number): unknown {
  const { message, details } = ERROR_EXAMPLES[code];
  const data = { code, httpStatus: ERRORS[code].status, details, request_id: '0b0e4a52-6f2c-4d0b-8a55-2f6d3f1f7c10' };
  return { error: { message, code: number, data } };
}

/** A whole error answer. */
export function errorExample(code: ErrorCode): unknown {
  const { message, execution, details } = ERROR_EXAMPLES[code];
  return { error: { code, message, execution_id: execution ? EXECUTION_ID : null, details } };
}
