/**
 * The one table of errors: each code with its HTTP status, the shape of its `details`, its meaning and its remedy. The
 * relay answers with it, clients read answers with it, and /openapi.json and /docs are generated from it.
 */
import * as z from 'zod';
import { PAYMENT_REASONS, PRICE_LIMITS, RequestIssue } from './errorDetails.ts';
import { Lamports, Usdc } from './fields.ts';
import { KEY_SCOPES } from './keyScopes.ts';

const Nothing = z.null();

export interface ErrorEntry {
  status: number;
  /** The shape of `details`. */
  details: z.ZodType;
  meaning: string;
  /** Advice for the caller. */
  remedy: string;
}

const NEVER_CHARGED = 'Nothing was charged.';

/** Every `error.code`. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    details: z.strictObject({ issues: z.array(RequestIssue) }),
    meaning: 'The request is malformed, or a field, parameter or header is missing, invalid or unknown.',
    remedy: `Correct each entry of \`details.issues\`, then send the request again. ${NEVER_CHARGED}`,
  },
  unauthorized: {
    status: 401,
    details: Nothing,
    meaning: 'The API key or session token is missing, malformed, unknown, revoked or expired.',
    remedy: `Send \`Authorization: Bearer <API key>\` with a valid key. If the key was revoked or has expired, create a new one. ${NEVER_CHARGED}`,
  },
  wrong_environment: {
    status: 401,
    details: Nothing,
    meaning:
      'The API key belongs to the other environment. Live keys are for mainnet; test keys are for devnet and local networks.',
    remedy: `Use a key of this environment, or the base URL of the key's environment. ${NEVER_CHARGED}`,
  },
  insufficient_balance: {
    status: 402,
    // Null if an interrupted call is answered from the journal.
    details: z
      .discriminatedUnion('limit', [
        z.strictObject({
          limit: z.enum(PRICE_LIMITS),
          wallet: z.string(),
          /** The remaining amount; null if the program refused the call. */
          have_usdc: Usdc.nullable(),
          need_usdc: Usdc,
          /** When the key's period starts again; null for other limits, and if the program refused the call. */
          renews_at: z.iso.datetime().nullable().optional(),
        }),
        z.strictObject({
          limit: z.literal('gas'),
          wallet: z.string(),
          /** The address to send lamports to. */
          gas_balance_address: z.string(),
          /** Null if the program refused the call, as is the next field. */
          have_lamports: Lamports.nullable(),
          need_lamports: Lamports.nullable(),
        }),
      ])
      .nullable(),
    meaning:
      'The wallet or its key cannot pay the price or the network fees. `details.limit` names the limit that is too small.',
    remedy: `Depending on the limit: send USDC to the wallet, renew its allowance (refunded calls use it up too), raise the key's limits, or add SOL to its gas balance. Then call again. ${NEVER_CHARGED}`,
  },
  payment_required: {
    status: 402,
    details: z.strictObject({ reason: z.enum(PAYMENT_REASONS) }),
    meaning:
      'The call of an x402 client has no payment, or its payment was not accepted. `details.reason` says why. The header `PAYMENT-REQUIRED` has a new quote.',
    remedy:
      'Pay the quote and send the request again, with the payment in the header `PAYMENT-SIGNATURE`. x402 clients do both. A payment that was not accepted has not been sent, so nothing was paid.',
  },
  insufficient_scope: {
    status: 403,
    details: z.strictObject({ needs: z.enum(KEY_SCOPES), has: z.array(z.enum(KEY_SCOPES)) }),
    meaning: 'The API key is valid but does not have the scope that this request needs.',
    remedy: `Use a key with the scope \`details.needs\`. ${NEVER_CHARGED}`,
  },
  address_not_allowed: {
    status: 403,
    details: z.strictObject({ address: z.string() }),
    meaning: 'The API key is valid but may not be used from this IP address.',
    remedy: `Call from an allowed address, or have the wallet add \`details.address\` to the key's allowed addresses. ${NEVER_CHARGED}`,
  },
  agent_not_allowed: {
    status: 403,
    details: z.strictObject({ agent_id: z.string() }),
    meaning: 'The API key is valid but may not call this agent.',
    remedy: `Call an agent of the key's \`allowed_agents\`, which \`GET /v1/key\` shows, or have the wallet add \`details.agent_id\` to them. ${NEVER_CHARGED}`,
  },
  not_admin: {
    status: 403,
    details: Nothing,
    meaning: "The session is valid, but its wallet is not the marketplace's admin.",
    remedy: 'Sign in with the wallet that `config.get` names as `admin`.',
  },
  foreign_origin: {
    status: 403,
    details: z.strictObject({ expected: z.string() }),
    meaning:
      'The request uses or sets a session cookie, but does not come from a page of this service: its `Origin` is missing or different, or `Sec-Fetch-Site` is `cross-site`.',
    remedy:
      'Send it from a page of `details.expected`. From a program, send the token of `auth.verify` as `Authorization: Bearer <token>` and no cookie.',
  },
  agent_not_found: {
    status: 404,
    details: Nothing,
    meaning: 'No agent has this agent_id, or the agent was delisted.',
    remedy: 'List the agents with `GET /v1/agents`.',
  },
  execution_not_found: {
    status: 404,
    details: Nothing,
    meaning: 'No execution has this execution_id, or it belongs to another wallet.',
    remedy: 'Use a key of the wallet that paid for the execution.',
  },
  webhook_not_found: {
    status: 404,
    details: Nothing,
    meaning: 'The wallet has no webhook endpoint or delivery with this id.',
    remedy:
      'List the endpoints with `GET /v1/webhooks`, and the deliveries of one with `GET /v1/webhooks/{endpoint_id}/deliveries`.',
  },
  not_found: {
    status: 404,
    details: Nothing,
    meaning: 'No route has this path.',
    remedy: 'Compare the path with this document. Paths have no trailing slash.',
  },
  method_not_allowed: {
    status: 405,
    details: z.strictObject({ allowed: z.array(z.string()) }),
    meaning: 'The path exists but does not support this method.',
    remedy: 'Use a method of `details.allowed`; the header `Allow` lists the same.',
  },
  execution_timeout: {
    status: 408,
    details: Nothing,
    meaning: 'The agent did not answer within the timeout. The escrow is refunded in full.',
    remedy: 'To try again, make a new call. A longer `timeout_seconds` may help.',
  },
  price_changed: {
    status: 409,
    details: z
      .strictObject({
        /** The present price; null if the listing changed during the call. */
        price_usdc: Usdc.nullable(),
        max_cost_usdc: Usdc,
      })
      // Null as in `insufficient_balance`.
      .nullable(),
    meaning: 'The agent costs more than `max_cost_usdc`, or its listing changed during the call.',
    remedy: `Read the agent again and decide if you want to pay the new price. ${NEVER_CHARGED}`,
  },
  request_in_progress: {
    status: 409,
    details: Nothing,
    meaning: 'An earlier request with this `Idempotency-Key`, or for this execution, is still in progress.',
    remedy: 'Repeat it after `Retry-After` seconds to get the answer of the first request, or read the execution.',
  },
  not_startable: {
    status: 409,
    details: z.discriminatedUnion('reason', [
      z.strictObject({ reason: z.enum(['ended', 'not_by_wallet', 'too_late']) }),
      z.strictObject({ reason: z.literal('gas'), have_lamports: Lamports, need_lamports: Lamports }),
    ]),
    meaning:
      'The execution cannot be started. It has ended, the wallet did not open it itself, too little time is left, or its record holds too little gas to settle it.',
    remedy:
      'Open a new execution and start it at once. An open escrow can be refunded from its `refund_at` on: anyone can send `refund_execution`.',
  },
  not_settled: {
    status: 409,
    details: z.strictObject({ status: z.enum(['pending', 'running', 'failed']) }),
    meaning: 'The execution has no receipt, because it is not settled yet or was refunded.',
    remedy:
      'If `details.status` is `pending` or `running`, read the execution until it has ended. If it is `failed`, the execution was or will be refunded and never gets a receipt.',
  },
  content_needed: {
    status: 409,
    details: z.strictObject({
      reason: z.enum(['not_ended', 'dispute_window', 'disputed']),
      /** When a dispute is no longer possible; null for other reasons. */
      until: z.iso.datetime().nullable(),
    }),
    meaning: 'The content cannot be deleted yet: the execution has not ended, can still be disputed, or is disputed.',
    remedy: 'Delete it after `details.until`, or once the execution or its dispute has ended.',
  },
  webhook_limit_reached: {
    status: 409,
    details: z.strictObject({ max: z.int().min(0) }),
    meaning: 'The wallet has reached its maximum number of webhook endpoints.',
    remedy:
      'Delete an endpoint that you no longer use. A wallet that has paid for a call, or has a listing, may have more.',
  },
  result_unavailable: {
    status: 410,
    details: Nothing,
    meaning:
      'The execution was completed and paid, but this service no longer has its result: it is too old, or its caller deleted it.',
    remedy:
      'Read the `result_hash` from the record on-chain. To get a result again, make a new call, which is charged again.',
  },
  payload_too_large: {
    status: 413,
    details: z.strictObject({ max_bytes: z.int() }),
    meaning: 'The body is larger than this route accepts.',
    remedy: 'Send at most `details.max_bytes` bytes.',
  },
  unsupported_media_type: {
    status: 415,
    details: z.strictObject({ content_type: z.string(), content_encoding: z.string() }),
    meaning: 'The body is not declared as JSON, or it is compressed.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
  },
  agent_paused: {
    status: 422,
    details: Nothing,
    meaning:
      'The agent is paused: by its creator, or because an upheld dispute left less collateral than its price requires.',
    remedy: `Call again when the agent's \`status\` is \`active\`, or use another agent. ${NEVER_CHARGED}`,
  },
  idempotency_key_reused: {
    status: 422,
    details: Nothing,
    meaning:
      'The `Idempotency-Key`, or the payment of an x402 client, was used before with another agent or another body.',
    remedy: `For a new call, use a new one. To repeat a call, send the same body. ${NEVER_CHARGED}`,
  },
  payment_id_reused: {
    status: 409,
    details: Nothing,
    meaning: 'The wallet used this id of `payment-identifier` before, with another request.',
    remedy: `For a new payment, use a new id. ${NEVER_CHARGED}`,
  },
  rate_limited: {
    status: 429,
    details: Nothing,
    meaning:
      'A limit is exceeded: requests from this IP address without an API key or a session of a wallet that has paid or has a listing, large requests, tests of endpoints or webhooks, or open event streams.',
    remedy: `Repeat the request after \`Retry-After\` seconds. ${NEVER_CHARGED}`,
  },
  execution_failed: {
    status: 500,
    details: Nothing,
    meaning:
      "The creator's server reported a failure, or its answer was not a valid signed result. The escrow is refunded in full.",
    remedy: 'Read the message for the cause. If the cause may be temporary, make a new call.',
  },
  internal_error: {
    status: 500,
    details: Nothing,
    meaning: 'This service has an internal fault, logged under the X-Request-Id.',
    remedy:
      'Treat the outcome as unknown. Look at your executions, or repeat the call with the same `Idempotency-Key`.',
  },
  service_unavailable: {
    status: 503,
    details: Nothing,
    meaning:
      'The service cannot do this now. The message says why: for example, the Solana node does not answer, or the service is stopping or overloaded.',
    remedy: 'Repeat the request after `Retry-After` seconds. Repeat a paid call with the same `Idempotency-Key`.',
  },
  metadata_missing: {
    status: 503,
    details: Nothing,
    meaning: "This service does not have the agent's description, so it cannot show or call the agent.",
    remedy:
      'Repeat the request after `Retry-After` seconds. If you have the description, send it to `POST /v1/metadata`.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
export type ErrorDetails<Code extends ErrorCode = ErrorCode> = z.infer<(typeof ERRORS)[Code]['details']>;
