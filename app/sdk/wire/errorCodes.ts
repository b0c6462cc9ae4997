/**
 * The one table of errors: each code with its HTTP status, the shape of its `details`, what it means and what its reader
 * should do. The relay answers by it, /openapi.json and /docs are written from it, clients read the answers with it.
 */
import { z } from 'zod';
import { KEY_SCOPES } from './keyScopes.ts';

const Nothing = z.null();
const Usdc = z.number().min(0);
const Lamports = z.int().min(0);

/** One thing that is wrong with a request. */
export const RequestIssue = z.strictObject({
  /** The part of the request it is in. */
  in: z.enum(['body', 'query', 'header']),
  /** Names and indices from there, joined by dots; empty for the whole part. */
  path: z.string(),
  expected: z.string(),
  /** What came instead: a short value as JSON, the kind of a longer one, or `nothing`. */
  got: z.string(),
});
export type RequestIssue = z.infer<typeof RequestIssue>;

/** The limits that can refuse a payment, in the order in which they are checked. */
export const SPENDING_LIMITS = ['balance', 'allowance', 'per_execution', 'period', 'total', 'gas'] as const;
export type SpendingLimit = (typeof SPENDING_LIMITS)[number];
/** Those of the price: all but gas, which is SOL. */
const PRICE_LIMITS = SPENDING_LIMITS.filter((limit) => limit !== 'gas') as Exclude<SpendingLimit, 'gas'>[];

interface ErrorEntry {
  status: number;
  /** What `details` is. */
  details: z.ZodType;
  meaning: string;
  /** For the caller. */
  remedy: string;
}

const NEVER_CHARGED = 'Nothing was charged.';

/** Every `error.code`. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    details: z.strictObject({ issues: z.array(RequestIssue) }).nullable(),
    meaning: 'The request is malformed, or a field, parameter or header is missing or not allowed.',
    remedy: `Correct what \`details.issues\` names; the same request will fail again. ${NEVER_CHARGED}`,
  },
  unauthorized: {
    status: 401,
    details: Nothing,
    meaning: 'The API key, or the session of a wallet, is missing, malformed, unknown, revoked or expired.',
    remedy: `Send \`Authorization: Bearer <API key>\` with a live key; make a new one if it was revoked or has expired. ${NEVER_CHARGED}`,
  },
  wrong_environment: {
    status: 401,
    details: Nothing,
    meaning:
      'The API key belongs to the other environment: live keys to mainnet, test keys to devnet and local networks.',
    remedy: `Use a key of this environment, or the base URL of the key's. ${NEVER_CHARGED}`,
  },
  insufficient_balance: {
    status: 402,
    // Null where a call that was interrupted is answered from the journal; so below.
    details: z
      .discriminatedUnion('limit', [
        z.strictObject({
          limit: z.enum(PRICE_LIMITS),
          wallet: z.string(),
          /** What the limit has left; null where only the program knew. */
          have_usdc: Usdc.nullable(),
          need_usdc: Usdc,
          /** When the key's period begins again; null for the other limits, and where only the program knew. */
          renews_at: z.iso.datetime().nullable().optional(),
        }),
        z.strictObject({
          limit: z.literal('gas'),
          wallet: z.string(),
          /** The address to send lamports to. */
          tank: z.string(),
          /** Null where only the program knew; so the next. */
          have_lamports: Lamports.nullable(),
          need_lamports: Lamports.nullable(),
        }),
      ])
      .nullable(),
    meaning:
      'The wallet or its key cannot pay the price, or the gas of the two transactions; `details.limit` names the limit that is too small.',
    remedy: `Fund the wallet (balance), raise its delegated allowance or the key's caps, or send SOL to the wallet's tank (gas); then call again. ${NEVER_CHARGED}`,
  },
  insufficient_scope: {
    status: 403,
    details: z.strictObject({ needs: z.enum(KEY_SCOPES), has: z.array(z.enum(KEY_SCOPES)) }),
    meaning: 'The API key is good, and its owner has not allowed it to do this.',
    remedy: `Use a key that has the scope \`details.needs\`. ${NEVER_CHARGED}`,
  },
  address_not_allowed: {
    status: 403,
    details: z.strictObject({ address: z.string() }),
    meaning: 'The API key is good, and its owner allows it only from other addresses.',
    remedy: `Call from an allowed address, or let the wallet add \`details.address\` to the key's list. ${NEVER_CHARGED}`,
  },
  not_admin: {
    status: 403,
    details: Nothing,
    meaning: "The session is good, and its wallet is not the marketplace's admin.",
    remedy: 'Sign in with the wallet that `config.get` names as `admin`.',
  },
  foreign_origin: {
    status: 403,
    details: z.strictObject({ expected: z.string() }),
    meaning:
      "The request carries the cookie of a session, or would set one, and its `Origin` is missing or another site's, or `Sec-Fetch-Site` is `cross-site`.",
    remedy:
      'Send it from a page of `details.expected`. A program sends the token of `auth.verify` as `Authorization: Bearer <token>`, and no cookie.',
  },
  agent_not_found: {
    status: 404,
    details: Nothing,
    meaning: 'There is no agent with this agent_id, or it was delisted.',
    remedy: 'Look the agent up with `GET /v1/agents`.',
  },
  execution_not_found: {
    status: 404,
    details: Nothing,
    meaning: "There is no execution with this execution_id, or it is another wallet's.",
    remedy: 'Use a key of the wallet that paid for the execution.',
  },
  not_found: {
    status: 404,
    details: Nothing,
    meaning: 'There is nothing at this address.',
    remedy: 'Compare the path with this document; paths have no trailing slash.',
  },
  method_not_allowed: {
    status: 405,
    details: z.strictObject({ allowed: z.array(z.string()) }),
    meaning: 'The address exists and does not know this method.',
    remedy: 'Use a method of `details.allowed`, which the header `Allow` repeats.',
  },
  execution_timeout: {
    status: 408,
    details: Nothing,
    meaning: 'The agent did not answer within the timeout. The escrow is refunded, in full.',
    remedy: 'Call again if you like, as a new execution; a longer `timeout_seconds` may help.',
  },
  price_changed: {
    status: 409,
    details: z
      .strictObject({
        /** The present price; null where the listing changed while the call was made. */
        price_usdc: Usdc.nullable(),
        max_cost_usdc: Usdc,
      })
      .nullable(),
    meaning: 'The agent costs more than `max_cost_usdc`, or its listing changed while the call was made.',
    remedy: `Read the agent again and decide whether to pay the new price. ${NEVER_CHARGED}`,
  },
  request_in_progress: {
    status: 409,
    details: Nothing,
    meaning: 'The request that came first with this `Idempotency-Key`, or for this execution, has not ended.',
    remedy: 'Repeat it after `Retry-After` seconds, or read `execution_id`: the first answer will be given again.',
  },
  not_startable: {
    status: 409,
    details: z.discriminatedUnion('reason', [
      z.strictObject({ reason: z.enum(['ended', 'not_by_wallet', 'too_late']) }),
      z.strictObject({ reason: z.literal('gas'), have_lamports: Lamports, need_lamports: Lamports }),
    ]),
    meaning:
      'The execution cannot be started: it has ended, it was not opened by its wallet itself, too little of its time is left, or its record holds less gas than settling it costs.',
    remedy:
      'An open escrow goes back to the wallet: anyone can send `refund_execution` once its `refund_at` has come. Open a new one, and start it at once.',
  },
  not_settled: {
    status: 409,
    details: z.strictObject({ status: z.enum(['pending', 'running', 'failed']) }),
    meaning: 'The execution has no receipt: it has not been settled yet, or it was refunded and never will be.',
    remedy:
      'Where `details.status` is `pending` or `running`, read the execution until it has ended; where it is `failed`, the money is back or on its way, and there is nothing to show.',
  },
  result_unavailable: {
    status: 410,
    details: Nothing,
    meaning: 'The execution was completed and paid, and this service keeps its result no longer, or has lost it.',
    remedy: 'The record on-chain shows the `result_hash`. A new call is a new execution with its own charge.',
  },
  payload_too_large: {
    status: 413,
    details: z.strictObject({ max_bytes: z.int() }),
    meaning: 'The body is larger than this address takes.',
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
    meaning: 'The creator has paused the agent.',
    remedy: `Call again when the agent's \`status\` is \`active\`, or use another. ${NEVER_CHARGED}`,
  },
  idempotency_key_reused: {
    status: 422,
    details: Nothing,
    meaning: 'The `Idempotency-Key` came before with another agent or another body.',
    remedy: `Use a new key for a new call, and the same body to repeat one. ${NEVER_CHARGED}`,
  },
  rate_limited: {
    status: 429,
    details: Nothing,
    meaning:
      'More requests without an API key came from this address, or more tests of an endpoint were asked for, than are answered.',
    remedy: `Wait for \`Retry-After\` seconds and repeat. ${NEVER_CHARGED}`,
  },
  execution_failed: {
    status: 500,
    details: Nothing,
    meaning:
      "The creator's service failed or answered with something that is not a valid signed result. The escrow is refunded, in full.",
    remedy: 'The message says what was wrong. Call again, as a new execution, if the cause may pass.',
  },
  internal_error: {
    status: 500,
    details: Nothing,
    meaning: 'A fault of this service; it was logged under the X-Request-Id.',
    remedy:
      'Treat the outcome as unknown: look at your executions, or repeat the call with the same `Idempotency-Key`.',
  },
  service_unavailable: {
    status: 503,
    details: Nothing,
    meaning: 'The service cannot do this now: the chain does not answer, or it is stopping or protecting itself.',
    remedy: 'Wait for `Retry-After` seconds and repeat, with the same `Idempotency-Key` if money is involved.',
  },
  metadata_missing: {
    status: 503,
    details: Nothing,
    meaning: "The agent's description has not reached this service, so the agent cannot be shown or called.",
    remedy: 'Wait for `Retry-After` seconds, or send the description to `POST /v1/metadata` if you have it.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
export type ErrorDetails<Code extends ErrorCode = ErrorCode> = z.infer<(typeof ERRORS)[Code]['details']>;

/** The body of every error; `execution_id` is null where there is no execution, `details` where there are none. */
export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    execution_id: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

const bodies = new Map<ErrorCode, z.ZodType<ErrorBody>>();

/** The body of the errors with this code, its `details` as the table has them. */
export function errorBodyOf(code: ErrorCode): z.ZodType<ErrorBody> {
  const known = bodies.get(code);
  if (known) return known;
  const { message, execution_id } = ErrorBody.shape.error.shape;
  const schema = z.strictObject({
    error: z.strictObject({ code: z.literal(code), message, execution_id, details: ERRORS[code].details }),
  }) as unknown as z.ZodType<ErrorBody>;
  bodies.set(code, schema);
  return schema;
}
