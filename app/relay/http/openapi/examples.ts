/** One example of every error, as an answer of /v1 and of /trpc. A test checks each against its schema. */
import { ERRORS, type ErrorCode, type ErrorDetails } from '../../../sdk/wire/wire.ts';
import { AGENT_ID, EXECUTION_ID, WALLET } from '../routes/samples.ts';

interface ErrorExample<Code extends ErrorCode> {
  message: string;
  /** True if the error concerns an existing execution. */
  execution?: true;
  details: ErrorDetails<Code>;
}

/** One answer per code. */
const ERROR_EXAMPLES: { [Code in ErrorCode]: ErrorExample<Code> } = {
  invalid_request: {
    message: 'The field "task" is missing',
    details: { issues: [{ in: 'body', path: 'task', expected: 'must be a string', got: 'nothing' }] },
  },
  unauthorized: { message: 'The API key is not valid. It is malformed, unknown, revoked or expired.', details: null },
  wrong_environment: {
    message: 'This is the test environment. Use a key that begins with crtx_test_, not crtx_live_.',
    details: null,
  },
  insufficient_balance: {
    message: `Wallet ${WALLET} holds 0.1 USDC; this call needs 0.25 USDC`,
    details: { limit: 'balance', wallet: WALLET, have_usdc: 0.1, need_usdc: 0.25, renews_at: null },
  },
  payment_required: { message: 'This call costs 0.255 USDC', details: { reason: 'no_payment' } },
  payment_id_reused: {
    message: 'This id of payment-identifier was used with another request. Use a new id for a new payment.',
    details: null,
  },
  insufficient_scope: {
    message: 'This API key does not have the scope "execute"',
    details: { needs: 'execute', has: ['read'] },
  },
  address_not_allowed: {
    message: 'This API key may not be used from the IP address 203.0.113.9',
    details: { address: '203.0.113.9' },
  },
  agent_not_allowed: {
    message: `This API key may not call the agent "${AGENT_ID}"`,
    details: { agent_id: AGENT_ID },
  },
  not_admin: { message: "This request needs a session of the marketplace's admin", details: null },
  foreign_origin: {
    message: 'A request that uses or sets a session cookie must come from a page of this service',
    details: { expected: 'https://marketplace.example.com' },
  },
  webhook_not_found: { message: 'This wallet has no webhook endpoint with this endpoint_id', details: null },
  webhook_limit_reached: { message: 'This wallet may have 10 webhook endpoints. Delete one.', details: { max: 10 } },
  agent_not_found: { message: 'No agent has this agent_id', details: null },
  execution_not_found: { message: 'No call of this wallet has this execution_id', details: null },
  not_found: { message: 'No result has this URL', details: null },
  method_not_allowed: {
    message: 'DELETE is not allowed for this path. Use GET, HEAD, OPTIONS.',
    details: { allowed: ['GET', 'HEAD', 'OPTIONS'] },
  },
  execution_timeout: {
    message: 'The agent did not respond within 30 seconds. Escrow refunded',
    execution: true,
    details: null,
  },
  price_changed: {
    message: 'The agent costs 0.3 USDC, more than max_cost_usdc, 0.25 USDC. Raise max_cost_usdc to pay the new price.',
    details: { price_usdc: 0.3, max_cost_usdc: 0.25 },
  },
  request_in_progress: {
    message: 'An earlier request for this call is still in progress. Retry in 1 s.',
    execution: true,
    details: null,
  },
  not_startable: {
    message: 'The call has ended',
    execution: true,
    details: { reason: 'ended' },
  },
  not_settled: {
    message: 'The call is not settled yet, so it has no receipt. Read it again later.',
    execution: true,
    details: { status: 'running' },
  },
  content_needed: {
    message: 'The call can still be disputed. Its content can be deleted after that.',
    execution: true,
    details: { reason: 'dispute_window', until: '2026-11-24T09:25:11.000Z' },
  },
  result_unavailable: {
    message: 'The call was completed and paid, but this service no longer has its result',
    execution: true,
    details: null,
  },
  payload_too_large: { message: 'The body must be at most 1048576 bytes', details: { max_bytes: 1_048_576 } },
  unsupported_media_type: {
    message: 'The body is not declared as JSON in UTF-8. Send the header Content-Type: application/json.',
    details: { content_type: 'application/json', content_encoding: 'identity' },
  },
  agent_paused: { message: 'The agent is paused', details: null },
  idempotency_key_reused: {
    message:
      'This Idempotency-Key or payment was used before with another agent or body. Use a new one for a new call.',
    execution: true,
    details: null,
  },
  rate_limited: {
    message:
      'Too many requests from this IP address: at most 50 per second without an API key or a session of a wallet that has paid or has a listing. Retry later.',
    details: null,
  },
  execution_failed: {
    message: "The creator's server reported a failure: out of luck. Escrow refunded",
    execution: true,
    details: null,
  },
  internal_error: {
    message:
      'Internal error, logged as 0b0e4a52-6f2c-4d0b-8a55-2f6d3f1f7c10. Quote this id when you report it to the operator.',
    details: null,
  },
  service_unavailable: { message: 'The Solana node does not answer', details: null },
  metadata_missing: { message: "This service does not have the agent's description", details: null },
};

/** A complete error answer of /trpc. */
export function procedureErrorExample(code: ErrorCode, number: number): unknown {
  const { message, details } = ERROR_EXAMPLES[code];
  const data = { code, httpStatus: ERRORS[code].status, details, request_id: '0b0e4a52-6f2c-4d0b-8a55-2f6d3f1f7c10' };
  return { error: { message, code: number, data } };
}

/** A complete error answer. */
export function errorExample(code: ErrorCode): unknown {
  const { message, execution, details } = ERROR_EXAMPLES[code];
  return { error: { code, message, execution_id: execution ? EXECUTION_ID : null, details } };
}
