/** The bodies that order an execution, and the answers about it. */
import * as z from 'zod';
import { ExecutionArchive, UnclaimedRefund } from './archives.ts';
import { DISPUTE_OUTCOMES } from './choices.ts';
import { ERROR_CODES } from './errorCodes.ts';
import { Count, Time, Usdc } from './fields.ts';
import { EXECUTION_STATUSES } from './queries.ts';
import { isUsdc, parseUsdc } from './usdc.ts';

const COST_RULE = 'must be an amount of USDC, a number with at most 6 decimal places';

/** POST /v1/agents/{agent_id}/execute. Unknown fields are refused, so that a misspelt limit is not ignored. */
export const ExecuteBody = z.strictObject({
  task: z.string('must be a string of at least one character').min(1, 'must have at least one character'),
  parameters: z.record(z.string(), z.unknown(), 'must be an object').default({}),
  async: z.boolean('must be true or false').default(false),
  /** Answer with Server-Sent Events: the output as it comes, then the result. */
  stream: z.boolean('must be true or false').default(false),
  timeout_seconds: z.int('must be a whole number of seconds').optional(),
  max_cost_usdc: z
    .number(COST_RULE)
    .refine((value) => isUsdc(value), COST_RULE)
    .transform((value) => parseUsdc(value))
    .optional(),
});
export type ExecuteBody = z.output<typeof ExecuteBody>;
export type ExecuteInput = z.input<typeof ExecuteBody>;

/**
 * POST /v1/executions/{execution_id}/start: the request that the wallet opened the escrow for. `wallet_signature`
 * (`ed25519:` and base58) replaces an API key. It is the wallet's signature over `agent-marketplace:start:v1:` + the
 * record's address + `:` + the record's request hash in hex.
 */
export const StartBody = z.strictObject({
  task: ExecuteBody.shape.task,
  parameters: ExecuteBody.shape.parameters,
  async: ExecuteBody.shape.async,
  stream: ExecuteBody.shape.stream,
  wallet_signature: z
    .string()
    .regex(/^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'must be ed25519: and a base58 signature of 64 bytes')
    .optional(),
});
export type StartBody = z.output<typeof StartBody>;

/** 200 of a synchronous execute; `on_chain_record` is the settling transaction. */
export const ExecuteCompleted = z.strictObject({
  execution_id: z.string(),
  status: z.literal('completed'),
  result: z.string(),
  result_hash: z.string(),
  cost_usdc: Usdc,
  tokens_used: Count.nullable(),
  execution_time_ms: Count,
  on_chain_record: z.url(),
  ipfs_url: z.url(),
});
export type ExecuteCompleted = z.infer<typeof ExecuteCompleted>;

/** `pending` is the 200 of an asynchronous execute, `running` a 202: poll GET /v1/executions/{execution_id}. */
export const ExecuteAccepted = z.strictObject({ execution_id: z.string(), status: z.enum(['pending', 'running']) });
export type ExecuteAccepted = z.infer<typeof ExecuteAccepted>;

/** Most characters of a task in a list of executions. */
export const TASK_CHARACTERS = 200;

/** States of a refund, in their order. */
export const REFUND_STATES = ['pending', 'waiting', 'unclaimed', 'done'] as const;

const executionSummary = {
  execution_id: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  /** The beginning of the task, up to TASK_CHARACTERS; null if this service does not have it. */
  task: z.string().nullable(),
  /** The API key that paid, and its name; null if none did, or if this service did not make it. */
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  /** Address of the deposit that an x402 client paid into; null if a key or a wallet paid. */
  deposit: z.string().nullable(),
  status: z.enum(EXECUTION_STATUSES),
  /** Why it failed; null unless `failed`. */
  error: z.strictObject({ code: z.enum(ERROR_CODES), message: z.string() }).nullable(),
  /**
   * State of the money that goes back: on its way; waiting for a missing or frozen account; unclaimed, for its caller to
   * claim; or returned.
   */
  refund: z.enum(REFUND_STATES).nullable(),
  /** Null if it was never disputed. One that is rejected or lapses leaves the status `completed`. */
  dispute: z.strictObject({ outcome: z.enum(DISPUTE_OUTCOMES) }).nullable(),
  cost_usdc: Usdc,
  /** The price that came back; null for a deposit that opened no execution, because only the chain has its amount. */
  refunded_usdc: Usdc.nullable(),
  /** The award of an upheld dispute, as far as it is paid; null if the chain does not show it any more. */
  returned_usdc: Usdc.nullable(),
  initiated_at: Time,
  completed_at: Time.nullable(),
  execution_time_ms: Count.nullable(),
  on_chain_record: z.url(),
};

/** Every field is present, null where there is no value. */
export const ExecutionSummary = z.strictObject(executionSummary);
export type ExecutionSummary = z.infer<typeof ExecutionSummary>;

export const ExecutionPage = z.strictObject({
  executions: z.array(ExecutionSummary),
  total: Count,
  limit: Count,
  offset: Count,
});
export type ExecutionPage = z.infer<typeof ExecutionPage>;

/** GET /v1/executions/{execution_id} */
export const ExecutionFull = z.strictObject({
  ...executionSummary,
  result: z.string().nullable(),
  result_hash: z.string().nullable(),
  creator_amount_usdc: Usdc,
  platform_amount_usdc: Usdc,
  /** What an x402 client paid besides the price; null for others, and while the chain does not show its open. */
  service_fee_usdc: Usdc.nullable(),
  tokens_used: Count.nullable(),
  ipfs_url: z.url().nullable(),
  /**
   * The creator's signature over `result_hash`, as the program verified it; and the optional signature that also names
   * the execution.
   */
  signature: z.string().nullable(),
  execution_signature: z.string().nullable(),
  /** The creator's reasoning trace, if it gave one. */
  steps: z.array(z.unknown()).nullable(),
  /** The unclaimed refund, claimed or not; null if the money went to the caller's account. */
  unclaimed: UnclaimedRefund.nullable(),
  /** Null while the record's account exists, and if it was closed without being archived. */
  archive: ExecutionArchive.nullable(),
  /** When the caller deleted task, parameters and result; null while they are kept. */
  content_deleted_at: Time.nullable(),
});
export type ExecutionFull = z.infer<typeof ExecutionFull>;

/** DELETE /v1/executions/{execution_id}/content */
export const ContentDeleted = z.strictObject({ execution_id: z.string(), content_deleted_at: Time });
export type ContentDeleted = z.infer<typeof ContentDeleted>;
