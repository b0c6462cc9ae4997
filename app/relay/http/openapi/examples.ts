/** One example of every part of every request and answer; a test holds each against its own schema. */
import { findTreasury, PROGRAM_ID } from '../../../sdk/program/program.ts';
import { hashResult } from '../../../sdk/receipt/receipt.ts';
import { ERRORS, type ErrorCode, type ErrorDetails } from '../../../sdk/wire/wire.ts';
import type { RouteId } from './routes.ts';

const AGENT_ID = '7Zb1bGi32pfsrBkzWdqd4dFhUXwp5Nybr1zuaEwN34hy';
const CREATOR = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';
const WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const EXECUTION_ID = 'b566c309-b734-86c3-aa14-0eba1f5ff01a';
const TOKEN = 'eRpoS7A1ZndgETi8glDBwgKYBfoVuFbg';
const RESULT = '{"columns":["city"],"rows":[["Istanbul"],["Lagos"]],"row_count":2}';
const SIGNATURE = 'ed25519:2hRQxB1dEzkRA3CxSRSVFVYDGxVaHHRRCQNSsfQhNEi1oNMuuqwy9w5Pj4qsPSVqfjyHNpTM3yZ8CFeeDyN3H7mW';
const RECORD_URL = 'https://explorer.solana.com/address/3kMwk9uKM5mbvVN9qTZcgTdhXyLCVQwDdWBnYhZfZ1nH?cluster=devnet';
const TRANSACTION_URL =
  'https://explorer.solana.com/tx/57M2CWmssicKLckBbMJFDFhWpozjyJNvwkqwE6TMBSMM5N35o7t323QZY65PuDNZQHs8xYKUriLSkBLfMtoi9z8a?cluster=devnet';

const SUMMARY = {
  agent_id: AGENT_ID,
  name: 'csv-analyst',
  tagline: 'Answers one SQL question about a CSV file.',
  tags: ['data', 'sql', 'spreadsheets'],
  price_per_call_usdc: 0.25,
  total_executions: 1204,
  success_rate: 0.9925,
  avg_execution_time_ms: 134,
  creator: { pubkey: CREATOR, verified: true },
  status: 'active',
  health: { status: 'ok', success_rate_recent: 0.98, p50_ms: 131, p95_ms: 240 },
} as const;

const INPUT_SCHEMA = {
  type: 'object',
  properties: { csv: { type: 'string' }, query: { type: 'string', maxLength: 10000 } },
  required: ['csv', 'query'],
};
const OUTPUT_SCHEMA = { type: 'object', properties: { row_count: { type: 'integer' } } };

const EXECUTION_SUMMARY = {
  execution_id: EXECUTION_ID,
  agent_id: AGENT_ID,
  agent_name: 'csv-analyst',
  status: 'completed',
  cost_usdc: 0.25,
  initiated_at: '2026-11-21T09:24:10.000Z',
  completed_at: '2026-11-21T09:24:11.000Z',
  on_chain_record: RECORD_URL,
} as const;

const ENDED = {
  execution_id: EXECUTION_ID,
  status: 'completed',
  result: RESULT,
  result_hash: hashResult(RESULT),
  cost_usdc: 0.25,
  tokens_used: null,
  execution_time_ms: 134,
  on_chain_record: TRANSACTION_URL,
  ipfs_url: `https://api.example.com/results/${EXECUTION_ID}/${TOKEN}`,
};

const READINESS = {
  environment: 'test',
  indexer: { slot: 1_203, lag_ms: 412 },
  executions_in_flight: 2,
} as const;

/** Values of path parameters by name. */
export const PARAMS: Record<string, string> = { agent_id: AGENT_ID, execution_id: EXECUTION_ID, token: TOKEN };

export const BODIES: Partial<Record<RouteId, unknown>> = {
  executeAgent: {
    task: 'Which cities have more than ten million people?',
    parameters: { csv: 'city,population\nIstanbul,15655000\nLagos,15388000\n', query: 'SELECT city FROM csv' },
    timeout_seconds: 30,
    max_cost_usdc: 0.25,
  },
  startExecution: {
    task: 'Which cities have more than ten million people?',
    parameters: { csv: 'city,population\nIstanbul,15655000\nLagos,15388000\n', query: 'SELECT city FROM csv' },
  },
  postMetadata: {
    custom_tags: ['spreadsheets'],
    description: 'Reads a CSV file and answers one SQL query over it.',
    display_name: 'Ada Analytics',
    endpoint: 'https://agents.example.com/csv/execute',
    input_schema: INPUT_SCHEMA,
    name: 'csv-analyst',
    output_schema: OUTPUT_SCHEMA,
    tagline: 'Answers one SQL question about a CSV file.',
  },
};

/** By route and status; the names are shown. */
export const ANSWERS: Record<RouteId, Record<number, Record<string, unknown>>> = {
  listAgents: { 200: { page: { agents: [SUMMARY], total: 1, limit: 20, offset: 0 } } },
  getAgent: {
    200: {
      agent: {
        ...SUMMARY,
        creator: { ...SUMMARY.creator, display_name: 'Ada Analytics' },
        description: 'Reads a CSV file and answers one SQL query over it.',
        input_schema: INPUT_SCHEMA,
        output_schema: OUTPUT_SCHEMA,
        timeout_seconds: 60,
        min_timeout_seconds: 1,
        successful_executions: 1195,
        dispute_count: 2,
        on_chain_listing: `https://explorer.solana.com/address/${AGENT_ID}?cluster=devnet`,
        created_at: '2026-10-02T08:00:00.000Z',
      },
    },
  },
  executeAgent: {
    200: { completed: ENDED, asynchronous: { execution_id: EXECUTION_ID, status: 'pending' } },
    202: { unknown: { execution_id: EXECUTION_ID, status: 'running' } },
  },
  startExecution: {
    200: { completed: ENDED, asynchronous: { execution_id: EXECUTION_ID, status: 'pending' } },
    202: { unknown: { execution_id: EXECUTION_ID, status: 'running' } },
  },
  listExecutions: { 200: { page: { executions: [EXECUTION_SUMMARY], total: 1, limit: 20, offset: 0 } } },
  getExecution: {
    200: {
      completed: {
        ...EXECUTION_SUMMARY,
        result: RESULT,
        result_hash: hashResult(RESULT),
        creator_amount_usdc: 0.2475,
        platform_amount_usdc: 0.0025,
        tokens_used: null,
        execution_time_ms: 134,
        ipfs_url: ENDED.ipfs_url,
        signature: SIGNATURE,
        execution_signature: null,
        steps: null,
        error: null,
        refund: null,
        dispute: null,
      },
      failed: {
        ...EXECUTION_SUMMARY,
        status: 'failed',
        cost_usdc: 0,
        result: null,
        result_hash: null,
        creator_amount_usdc: 0,
        platform_amount_usdc: 0,
        tokens_used: null,
        execution_time_ms: null,
        ipfs_url: null,
        signature: null,
        execution_signature: null,
        steps: null,
        error: { code: 'execution_timeout', message: 'The agent did not respond within 30 seconds' },
        refund: 'done',
        dispute: null,
      },
    },
  },
  postMetadata: {
    200: { accepted: { metadata_hash: '3a9ac66a66f2a1a0bb3a8e9ac6c04bdfaa4ab4b54d6ff5fd38e15cd05a92e4fc' } },
  },
  getResult: { 200: { result: RESULT } },
  getKeyDirectory: {
    200: {
      directory: {
        keys: [
          {
            kty: 'OKP',
            crv: 'Ed25519',
            x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
            kid: 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
            use: 'sig',
          },
        ],
      },
    },
  },
  getRoot: {
    200: {
      directory: {
        docs: 'https://api.example.com/docs',
        openapi: 'https://api.example.com/openapi.json',
        idl: 'https://api.example.com/idl.json',
      },
    },
  },
  getHealth: { 200: { healthy: { status: 'ok', environment: 'test', uptime_seconds: 86_400 } } },
  getReady: {
    200: { ready: { status: 'ready', problems: [], ...READINESS } },
    503: { notReady: { status: 'not_ready', problems: ['chain_unreachable'], ...READINESS } },
  },
  getOpenapi: { 200: {} },
  getDocs: { 200: {} },
  getIdl: { 200: {} },
};

/** What `GET /trpc/config.get` answers. */
export const CONFIG_ANSWER = {
  result: {
    data: {
      environment: 'test',
      program_id: PROGRAM_ID.toBase58(),
      usdc_mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      relay_authority: '3kMwk9uKM5mbvVN9qTZcgTdhXyLCVQwDdWBnYhZfZ1nH',
      treasury: findTreasury().toBase58(),
      rpc_url: 'https://api.devnet.solana.com',
      explorer_query: '?cluster=devnet',
      egress_ips: ['203.0.113.7'],
      fee_bps: 100,
      min_price_usdc: 0.01,
      max_timeout_seconds: 3_600,
      dispute_window_seconds: 259_200,
      collateral_tiers: [{ max_price_usdc: 1, deposit_usdc: 5 }],
    },
  },
} as const;

interface ErrorExample<Code extends ErrorCode> {
  message: string;
  /** Whether it is about an execution that exists. */
  execution?: true;
  details: ErrorDetails<Code>;
}

/** One answer of every code. */
export const ERROR_EXAMPLES: { [Code in ErrorCode]: ErrorExample<Code> } = {
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
    message: 'This API key has not the scope "execute"',
    details: { needs: 'execute', has: ['read'] },
  },
  address_not_allowed: {
    message: 'This API key is not taken from the address 203.0.113.9',
    details: { address: '203.0.113.9' },
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
    message: 'The first request with this Idempotency-Key has not ended',
    execution: true,
    details: null,
  },
  not_startable: {
    message: 'The execution has ended',
    execution: true,
    details: { reason: 'ended' },
  },
  result_unavailable: {
    message: 'The execution was completed and paid, and this service has lost its result',
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
    message: 'This Idempotency-Key came before with another body',
    execution: true,
    details: null,
  },
  rate_limited: { message: 'Too many requests without an API key came from this address', details: null },
  execution_failed: {
    message: "The creator's service reported a failure: out of luck. Escrow refunded",
    execution: true,
    details: null,
  },
  internal_error: {
    message: 'Something went wrong here; it was logged as 0b0e4a52-6f2c-4d0b-8a55-2f6d3f1f7c10',
    details: null,
  },
  service_unavailable: { message: 'The chain cannot be read just now', details: null },
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
