/**
 * The schema of each query, body and answer of the REST API. The relay parses requests and answers with these schemas
 * and clients read answers with them, so neither can drift. errorCodes.ts has the errors. Amounts are decimal USDC with
 * at most 6 places, times ISO 8601 in UTC, durations whole numbers with their unit.
 */
import * as z from 'zod';
import { ERROR_CODES } from './errorCodes.ts';
import { AgentMetadata } from './metadata.ts';
import { EXECUTION_STATUSES } from './queries.ts';
import { isUsdc, parseUsdc } from './usdc.ts';

/** Largest request body, bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

// Agents

const Count = z.int().min(0);
const Usdc = z.number().min(0);
const Time = z.iso.datetime();
const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * Health from an agent's last 50 executions that were paid or failed by the creator's fault. `degraded`: below 80 %
 * success as the mean over wallets, or refused. Rate and times are null if there are none.
 */
export const AgentHealth = z.strictObject({
  status: z.enum(['ok', 'degraded']),
  success_rate_recent: z.number().min(0).max(1).nullable(),
  p50_ms: Count.nullable(),
  p95_ms: Count.nullable(),
});
export type AgentHealth = z.infer<typeof AgentHealth>;

const agentSummary = {
  agent_id: z.string(),
  name: z.string(),
  tagline: z.string(),
  tags: z.array(z.string()),
  price_per_call_usdc: Usdc,
  total_executions: Count,
  success_rate: z.number().min(0).max(1),
  avg_execution_time_ms: Count,
  creator: z.strictObject({ pubkey: z.string(), verified: z.boolean() }),
  status: z.enum(['active', 'paused']),
  health: AgentHealth,
};

export const AgentSummary = z.strictObject(agentSummary);
export type AgentSummary = z.infer<typeof AgentSummary>;

export const AgentPage = z.strictObject({ agents: z.array(AgentSummary), total: Count, limit: Count, offset: Count });
export type AgentPage = z.infer<typeof AgentPage>;

/** GET /v1/agents/{agent_id} */
export const AgentFull = z.strictObject({
  ...agentSummary,
  creator: z.strictObject({ pubkey: z.string(), verified: z.boolean(), display_name: z.string() }),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
  output_schema: z.record(z.string(), z.unknown()),
  timeout_seconds: Count,
  min_timeout_seconds: Count,
  max_result_bytes: Count,
  successful_executions: Count,
  dispute_count: Count,
  on_chain_listing: z.url(),
  created_at: Time,
});
export type AgentFull = z.infer<typeof AgentFull>;

// Executing

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
export type StartInput = z.input<typeof StartBody>;

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

// Archives

/**
 * The proof of an archived execution: the bytes of its record's fields, and the sibling nodes on its leaf's path to the
 * root. GET /v1/executions/{execution_id}/archive, and part of the execution.
 */
export const ExecutionArchive = z.strictObject({
  archive: z.string(),
  archive_index: Count,
  tree: z.string(),
  leaf_index: Count,
  record: z.string(),
  fields: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
  leaf: Hash,
  proof: z.array(Hash).length(20),
  root: Hash,
  transaction: z.string(),
});
export type ExecutionArchive = z.infer<typeof ExecutionArchive>;

/** A refund that its caller's account could not receive. `claimed_at` is null while its caller can still claim it. */
export const UnclaimedRefund = z.strictObject({
  /** The record or the deposit. */
  source: z.string(),
  amount_usdc: Usdc,
  unclaimed_at: Time,
  claimed_at: Time.nullable(),
});
export type UnclaimedRefund = z.infer<typeof UnclaimedRefund>;

/** The same with the proof of its leaf. `fields` are the leaf's bytes. */
export const UnclaimedProof = z.strictObject({
  ...UnclaimedRefund.shape,
  caller: z.string(),
  ...ExecutionArchive.omit({ record: true }).shape,
});
export type UnclaimedProof = z.infer<typeof UnclaimedProof>;

/** GET /v1/unclaimed/{source}: several only if a deposit's address was prepared again. */
export const UnclaimedProofs = z.strictObject({ refunds: z.array(UnclaimedProof) });
export type UnclaimedProofs = z.infer<typeof UnclaimedProofs>;

/**
 * A line of GET /v1/archives/{archive_index}/leaves: the data from which a leaf is computed. It is an execution's record
 * and fields, or the fields of an unclaimed refund.
 */
export const ArchiveLine = z.union([
  ExecutionArchive.pick({ leaf_index: true, record: true, fields: true }),
  z.strictObject({ leaf_index: Count, unclaimed: ExecutionArchive.shape.fields }),
]);
export type ArchiveLine = z.infer<typeof ArchiveLine>;

/** Lines of one answer of that route; a full page never changes. */
export const ARCHIVE_PAGE = 256;

/** States of a refund, in their order. */
export const REFUND_STATES = ['pending', 'waiting', 'unclaimed', 'done'] as const;

// Executions: every field is present, null where there is no value

const executionSummary = {
  execution_id: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  status: z.enum(EXECUTION_STATUSES),
  cost_usdc: Usdc,
  initiated_at: Time,
  completed_at: Time.nullable(),
  on_chain_record: z.url(),
};

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
  tokens_used: Count.nullable(),
  execution_time_ms: Count.nullable(),
  ipfs_url: z.url().nullable(),
  /**
   * The creator's signature over `result_hash`, as the program verified it; and the optional signature that also names
   * the execution.
   */
  signature: z.string().nullable(),
  execution_signature: z.string().nullable(),
  /** The creator's reasoning trace, if it gave one. */
  steps: z.array(z.unknown()).nullable(),
  /** Why it failed; null unless `failed`. */
  error: z.strictObject({ code: z.enum(ERROR_CODES), message: z.string() }).nullable(),
  /**
   * State of the money that goes back: on its way; waiting for a missing or frozen account; unclaimed, for its caller to
   * claim; or returned.
   */
  refund: z.enum(REFUND_STATES).nullable(),
  /** The unclaimed refund, claimed or not; null if the money went to the caller's account. */
  unclaimed: UnclaimedRefund.nullable(),
  /** Null unless `disputed`. */
  dispute: z.strictObject({ outcome: z.enum(['open', 'upheld']) }).nullable(),
  /** Null while the record's account exists, and if it was closed without being archived. */
  archive: ExecutionArchive.nullable(),
  /** Address of the deposit that an x402 client paid into; null if a key or a wallet paid. */
  deposit: z.string().nullable(),
  /** When the caller deleted task, parameters and result; null while they are kept. */
  content_deleted_at: Time.nullable(),
});
export type ExecutionFull = z.infer<typeof ExecutionFull>;

/** DELETE /v1/executions/{execution_id}/content */
export const ContentDeleted = z.strictObject({ execution_id: z.string(), content_deleted_at: Time });
export type ContentDeleted = z.infer<typeof ContentDeleted>;

// The rest

/** POST /v1/metadata takes `AgentMetadata` as JSON and returns the hash of exactly these bytes. */
export const MetadataAccepted = z.strictObject({ metadata_hash: z.string() });
export type MetadataAccepted = z.infer<typeof MetadataAccepted>;
export * from './agentStatistics.ts';
export { ERRORS, ErrorBody, type ErrorCode, type ErrorDetails, errorBodyOf } from './errorCodes.ts';
export * from './ownKey.ts';
export * from './queries.ts';
export * from './statement.ts';
export * from './webhooks.ts';
export { AgentMetadata };

/** GET /.well-known/http-message-signatures-directory: the keys that sign calls to creators, as in RFC 8037. */
export const KeyDirectory = z.strictObject({
  keys: z.array(
    z.strictObject({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string(),
      use: z.literal('sig'),
    }),
  ),
});
export type KeyDirectory = z.infer<typeof KeyDirectory>;

/** GET /: links of this deployment. */
export const Directory = z.strictObject({ docs: z.url(), openapi: z.url(), idl: z.url() });
export type Directory = z.infer<typeof Directory>;

/** Problems that keep the service from taking or showing executions. */
export const PROBLEMS = [
  'chain_unreachable',
  'clock_wrong',
  'chain_behind',
  'chain_restarted',
  'index_behind',
  'ledger_unreconciled',
  'authority_changed',
  'authority_shared',
  'opens_paused',
  'fees_low',
  'storage_low',
  'stopping',
] as const;
export type Problem = (typeof PROBLEMS)[number];

/** GET /health: this process answers. /ready shows if it can serve. */
export const Health = z.strictObject({
  status: z.literal('ok'),
  environment: z.enum(['live', 'test']),
  release: z.string(),
  build: z.string().nullable(),
  uptime_seconds: Count,
  /** Why this process refuses new executions; empty while it accepts them. /ready also asks the chain and the index. */
  problems: z.array(z.enum(PROBLEMS)),
});
export type Health = z.infer<typeof Health>;

/** GET /ready: 200 when `ready`, else 503. Lag in milliseconds; null before the indexer's first read. */
export const Ready = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  /** Empty when ready. */
  problems: z.array(z.enum(PROBLEMS)),
  /** Actions for a person; empty if the problems end without one. */
  advice: z.array(z.string()),
  environment: z.enum(['live', 'test']),
  indexer: z.strictObject({ slot: Count.nullable(), lag_ms: Count.nullable() }),
  executions_in_flight: Count,
});
export type Ready = z.infer<typeof Ready>;
