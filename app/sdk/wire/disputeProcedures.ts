/** Procedures of disputes: evidence, replies and reasons, and lists of disputes. */
import * as z from 'zod';
import { DISPUTE_OUTCOMES, type DisputeOutcome, MAX_EVIDENCE_BYTES } from './choices.ts';
import { Address, Count, ExecutionId, Lamports, type ProcedureEntry, page, Time, Usdc } from './fields.ts';
import { Receipt } from './receipt.ts';
import { ExecutionFull } from './wire.ts';

export { DISPUTE_OUTCOMES, type DisputeOutcome, MAX_EVIDENCE_BYTES };

/** The request body that carries the largest evidence in base64. */
const MAX_EVIDENCE_BODY_BYTES = 384 * 1024;
const MAX_EVIDENCE_TEXT = Math.ceil(MAX_EVIDENCE_BYTES / 3) * 4;
const EVIDENCE_RULE = `must be base64 of 1 to ${MAX_EVIDENCE_BYTES} bytes`;

/** Longest reply of a creator. */
export const MAX_REPLY_CHARACTERS = 4_000;

export const EVIDENCE_TYPES = [
  'text/plain',
  'application/pdf',
  'image/png',
  'image/jpeg',
  'application/json',
  'application/octet-stream',
] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

export const DisputeSummary = z.strictObject({
  execution_id: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  /** The beginning of the task, up to 200 characters. Null if it is not known or deleted, and in `disputes.queue`. */
  task: z.string().nullable(),
  caller: z.string(),
  creator: z.string(),
  price_usdc: Usdc,
  evidence_hash: z.string(),
  /** URL of the evidence, from the caller; null if unknown or empty. */
  evidence_uri: z.string().nullable(),
  /** True if this service stores the evidence with that hash. */
  has_evidence: z.boolean(),
  outcome: z.enum(DISPUTE_OUTCOMES),
  /** Bond that the dispute holds; 0 once paid out. */
  bond_lamports: Lamports,
  /** Bond that was paid when the dispute was opened. Null if the chain does not show it any more. */
  bond_paid_lamports: Lamports.nullable(),
  opened_at: Time,
  /** The admin promises to decide by this time. */
  answer_due_at: Time,
  /** Time from which anyone may end an unresolved dispute. */
  lapses_at: Time,
  resolved_at: Time.nullable(),
  /** Null if the chain does not show it any more. */
  amount_to_caller_usdc: Usdc.nullable(),
  /** What the creator lost. The rest of the caller's amount came from earlier forfeits. Null like the other amount. */
  amount_slashed_usdc: Usdc.nullable(),
  /** The part of the caller's amount that waits for an account that can receive it. */
  owed_usdc: Usdc,
  reason_hash: z.string().nullable(),
  /** The text with the SHA-256 `reason_hash`, if this service has it. */
  reason: z.string().nullable(),
  /** The creator's reply; null if there is none. */
  reply: z.string().nullable(),
});
export type DisputeSummary = z.infer<typeof DisputeSummary>;

const Outcomes = z.strictObject({ open: Count, rejected: Count, upheld: Count, lapsed: Count });

/** The number of other disputes by outcome, and of finished executions. */
export const OtherDisputes = z.strictObject({
  of_caller: Outcomes,
  of_agent: Outcomes,
  caller_executions: Count,
  agent_executions: Count,
  /** Open ones, then the others, each newest first; at most 5 of each, without tasks. */
  first_of_caller: z.array(DisputeSummary),
  first_of_agent: z.array(DisputeSummary),
});
export type OtherDisputes = z.infer<typeof OtherDisputes>;

/** Whether a webhook of the creator received `dispute.opened`; of several deliveries, the one that came furthest. */
export const CreatorDelivery = z.strictObject({
  /** `none` if no delivery is known. The deliveries of a deleted webhook are not. */
  status: z.enum(['none', 'pending', 'delivered', 'failed']),
  delivered_at: Time.nullable(),
});
export type CreatorDelivery = z.infer<typeof CreatorDelivery>;

const DisputePage = z.strictObject({ disputes: z.array(DisputeSummary), total: Count });

export const disputeProcedures = {
  /**
   * Disputes of executions that the wallet paid for, and of its listings: open ones, then the others, each newest first.
   * With `agent_id`, only those of this listing of the wallet.
   */
  'disputes.mine': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ agent_id: Address.optional(), ...page }).prefault({}),
    output: DisputePage,
  },
  /**
   * All disputes: open ones by due time, then the others, newest first. With `creator`, those of its listings: open ones,
   * then the others, each newest first.
   */
  'disputes.queue': {
    kind: 'query',
    access: 'admin',
    input: z
      .strictObject({ outcome: z.enum(DISPUTE_OUTCOMES).optional(), creator: Address.optional(), ...page })
      .prefault({}),
    output: DisputePage,
  },
  /**
   * Stores the caller's evidence, before or after the dispute that names its hash. Only for a completed or disputed
   * execution of the session's wallet. Evidence that no dispute names is deleted after 24 hours. If there is too much,
   * the oldest is deleted first.
   */
  'disputes.putEvidence': {
    kind: 'mutation',
    access: 'session',
    maxBytes: MAX_EVIDENCE_BODY_BYTES,
    input: z.strictObject({
      execution_id: ExecutionId,
      content: z.base64(EVIDENCE_RULE).min(1, EVIDENCE_RULE).max(MAX_EVIDENCE_TEXT, EVIDENCE_RULE),
      media_type: z.enum(EVIDENCE_TYPES, { error: `must be one of ${EVIDENCE_TYPES.join(', ')}` }),
    }),
    output: z.strictObject({ evidence_hash: z.string() }),
  },
  /** The evidence of a dispute, for its parties and the admin. A page must never run it: the caller wrote it. */
  'disputes.evidence': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ execution_id: ExecutionId }),
    output: z.strictObject({
      content: z.base64(),
      media_type: z.enum(EVIDENCE_TYPES),
      evidence_hash: z.string(),
    }),
  },
  /**
   * The facts of a dispute, for its parties and the admin. Task and parameters are null if the execution was never
   * started here.
   */
  'disputes.case': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ execution_id: ExecutionId }),
    output: z.strictObject({
      execution: ExecutionFull,
      task: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      dispute: DisputeSummary,
      /** The receipt as the caller gets it; null if the result is lost. */
      receipt: Receipt.nullable(),
      /** For the admin alone. */
      others: OtherDisputes.nullable(),
      /** For the admin alone. Null if it is not known: the event has not been sent yet, or is older than 30 days. */
      creator_delivery: CreatorDelivery.nullable(),
    }),
  },
  /** Stores the creator's reply to an open dispute, in place of an earlier one. Both parties and the admin can read it. */
  'disputes.putReply': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ execution_id: ExecutionId, reply: z.string().min(1).max(MAX_REPLY_CHARACTERS) }),
    output: z.strictObject({ reply: z.string() }),
  },
  /** Stores the reason of an outcome. Caller and creator see it once the dispute has its hash. */
  'disputes.putReason': {
    kind: 'mutation',
    access: 'admin',
    input: z.strictObject({ execution_id: ExecutionId, reason: z.string().min(1).max(8_000) }),
    output: z.strictObject({ reason_hash: z.string() }),
  },
} as const satisfies Record<string, ProcedureEntry>;
