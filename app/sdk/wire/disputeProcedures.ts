/** Procedures of disputes: their evidence and reasons, whose hashes are on the chain, and the lists of them. */
import { z } from 'zod';
import { DISPUTE_OUTCOMES, type DisputeOutcome } from './choices.ts';
import { Count, ExecutionId, Lamports, type ProcedureEntry, page, Time, Usdc } from './fields.ts';
import { Receipt } from './receipt.ts';
import { ExecutionFull } from './wire.ts';

export { DISPUTE_OUTCOMES, type DisputeOutcome };

/** Largest file of evidence, bytes, and the body that carries it in base64. */
export const MAX_EVIDENCE_BYTES = 256 * 1024;
const MAX_EVIDENCE_BODY_BYTES = 384 * 1024;
const MAX_EVIDENCE_TEXT = Math.ceil(MAX_EVIDENCE_BYTES / 3) * 4;
const EVIDENCE_RULE = `must be base64 of 1 to ${MAX_EVIDENCE_BYTES} bytes`;

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
  caller: z.string(),
  creator: z.string(),
  price_usdc: Usdc,
  evidence_hash: z.string(),
  /** Where the caller says that the evidence is; null where that is not known, or empty. */
  evidence_uri: z.string().nullable(),
  /** Whether this service keeps the bytes of that hash. */
  has_evidence: z.boolean(),
  outcome: z.enum(DISPUTE_OUTCOMES),
  /** Held by the dispute: 0 once paid out. */
  bond_lamports: Lamports,
  opened_at: Time,
  /** When the admin has promised to have answered. */
  answer_due_at: Time,
  /** From when on anybody may end it unanswered. */
  lapses_at: Time,
  resolved_at: Time.nullable(),
  amount_to_caller_usdc: Usdc,
  amount_to_treasury_usdc: Usdc,
  /** What of the caller's still waits for an account that can receive it. */
  owed_usdc: Usdc,
  reason_hash: z.string().nullable(),
  /** The text whose SHA-256 `reason_hash` is, where this service has it. */
  reason: z.string().nullable(),
});
export type DisputeSummary = z.infer<typeof DisputeSummary>;

const DisputePage = z.strictObject({ disputes: z.array(DisputeSummary), total: Count });

export const disputeProcedures = {
  /** Those of executions that the wallet paid for, and of its listings; newest first. */
  'disputes.mine': {
    kind: 'query',
    access: 'session',
    input: z.strictObject(page).prefault({}),
    output: DisputePage,
  },
  /** All of them: open ones by when they are due, the others after them, newest first. */
  'disputes.queue': {
    kind: 'query',
    access: 'admin',
    input: z.strictObject({ outcome: z.enum(DISPUTE_OUTCOMES).optional(), ...page }).prefault({}),
    output: DisputePage,
  },
  /**
   * Keeps the caller's evidence, before or after the dispute that names its hash. Only of a completed or disputed
   * execution of the session's wallet. What no dispute names is forgotten after 24 hours, and the oldest of too many.
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
  /** The bytes that a dispute's hash names: a stranger's, so nothing that a page may run. */
  'disputes.evidence': {
    kind: 'query',
    access: 'admin',
    input: z.strictObject({ execution_id: ExecutionId }),
    output: z.strictObject({
      content: z.base64(),
      media_type: z.enum(EVIDENCE_TYPES),
      evidence_hash: z.string(),
    }),
  },
  /** What the admin decides by. Task and parameters are null where the execution was never started here. */
  'disputes.case': {
    kind: 'query',
    access: 'admin',
    input: z.strictObject({ execution_id: ExecutionId }),
    output: z.strictObject({
      execution: ExecutionFull,
      task: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      dispute: DisputeSummary,
      /** As its caller can have it; null where the result is lost. */
      receipt: Receipt.nullable(),
    }),
  },
  /** Keeps the reason of an outcome; caller and creator see it once the dispute carries its hash. */
  'disputes.putReason': {
    kind: 'mutation',
    access: 'admin',
    input: z.strictObject({ execution_id: ExecutionId, reason: z.string().min(1).max(8_000) }),
    output: z.strictObject({ reason_hash: z.string() }),
  },
} as const satisfies Record<string, ProcedureEntry>;
