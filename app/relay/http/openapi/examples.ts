/** One example of every error, as an answer of /v1 and of /trpc. A test checks each against its schema. */
import { ERRORS, type ErrorCode, type ErrorDetails } from '../../../sdk/wire/wire.ts';
import { internalError } from '../../errors.ts';
import { AGENT_ID, EXECUTION_ID, WALLET } from '../routes/samples.ts';

const REQUEST_ID = '0b0e4a52-6f2c-4d0b-8a55-2f6d3f1f7c10';

/** Of each code that has details. */
const DETAILS: { [Code in ErrorCode]?: ErrorDetails<Code> } = {
  invalid_request: {
    issues: [{ in: 'body', path: 'task', expected: 'must be a string', got: 'nothing' }],
  },
  insufficient_balance: { limit: 'balance', wallet: WALLET, have_usdc: 0.1, need_usdc: 0.25, renews_at: null },
  payment_required: { reason: 'no_payment' },
  insufficient_scope: { needs: 'execute', has: ['read'] },
  address_not_allowed: { address: '203.0.113.9' },
  agent_not_allowed: { agent_id: AGENT_ID },
  foreign_origin: { expected: 'https://marketplace.example.com' },
  webhook_limit_reached: { max: 10 },
  method_not_allowed: { allowed: ['GET', 'HEAD', 'OPTIONS'] },
  price_changed: { price_usdc: 0.3, max_cost_usdc: 0.25 },
  not_startable: { reason: 'ended' },
  not_settled: { status: 'running' },
  content_needed: { reason: 'dispute_window', until: '2026-11-24T09:25:11.000Z' },
  payload_too_large: { max_bytes: 1_048_576 },
  unsupported_media_type: { content_type: 'application/json', content_encoding: 'identity' },
};

/** Codes about an existing execution. */
const OF_EXECUTION: readonly ErrorCode[] = [
  'execution_timeout',
  'request_in_progress',
  'not_startable',
  'not_settled',
  'content_needed',
  'result_unavailable',
  'idempotency_key_reused',
  'execution_failed',
];

const messageOf = (code: ErrorCode): string =>
  code === 'internal_error' ? internalError(REQUEST_ID) : ERRORS[code].meaning;
const detailsOf = (code: ErrorCode): ErrorDetails | null => DETAILS[code] ?? null;

/** A complete error answer of /trpc. */
export function procedureErrorExample(code: ErrorCode, number: number): unknown {
  const data = { code, httpStatus: ERRORS[code].status, details: detailsOf(code), request_id: REQUEST_ID };
  return { error: { message: messageOf(code), code: number, data } };
}

/** A complete error answer. */
export function errorExample(code: ErrorCode): unknown {
  const execution_id = OF_EXECUTION.includes(code) ? EXECUTION_ID : null;
  return { error: { code, message: messageOf(code), execution_id, details: detailsOf(code) } };
}
