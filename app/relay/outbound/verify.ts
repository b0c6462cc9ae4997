/** What a creator's answer is worth: a signed result, an honest failure, or neither. */
import { z } from 'zod';
import { hashResult, verifyMessage, verifyResultSignature } from '../../sdk/creator/nativeReceipt.ts';
import { PROGRAM_ID } from '../../sdk/program/program.ts';
import { executionMessage } from '../../sdk/receipt/receipt.ts';

/** Longest creator error shown, characters. */
const MAX_ERROR_LENGTH = 500;
/** Largest reasoning trace kept, bytes of JSON. */
const MAX_STEPS_BYTES = 256 * 1024;

/** A result whose hash and signature are right. */
export interface VerifiedResult {
  kind: 'completed';
  result: string;
  resultHash: string;
  signature: string;
  /** The optional signature that names this very execution, where it was given and is right. */
  executionSignature: string | null;
  tokensUsed: number | null;
  /** JSON text of the trace. */
  steps: string | null;
}

export type Verification = VerifiedResult | { kind: 'failed'; message: string } | { kind: 'invalid'; message: string };

const envelope = z.looseObject({ execution_id: z.string(), status: z.enum(['completed', 'failed']) });
const completed = z.looseObject({ result: z.string(), result_hash: z.string(), signature: z.string() });
const failed = z.looseObject({
  error: z.string().min(1),
  result: z.null().optional(),
  result_hash: z.null().optional(),
  signature: z.null().optional(),
});
const tokensUsed = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

function invalid(message: string): Verification {
  return { kind: 'invalid', message };
}

/** Plain text of bounded length: control characters would let a creator write into terminals and logs. */
export function plainText(text: string): string {
  const cleaned = text.replace(/\p{Cc}+/gu, ' ').trim();
  return cleaned.length > MAX_ERROR_LENGTH ? `${cleaned.slice(0, MAX_ERROR_LENGTH - 1)}…` : cleaned;
}

function readSteps(steps: unknown): string | null {
  if (!Array.isArray(steps)) return null;
  const text = JSON.stringify(steps);
  return Buffer.byteLength(text) <= MAX_STEPS_BYTES ? text : null;
}

/**
 * Judge an answer. `signingKey` is the record's key, 32 bytes; `requestHash` the record's, hex.
 * Wrong tokens_used or steps are dropped and never cost the creator its pay.
 */
export function verifyAnswer(
  json: unknown,
  expected: { executionId: string; signingKey: Uint8Array; requestHash: string },
): Verification {
  const head = envelope.safeParse(json);
  if (!head.success) return invalid("The creator's answer lacks execution_id or a status of completed or failed");
  if (head.data.execution_id !== expected.executionId)
    return invalid("The creator's answer names another execution_id");
  if (head.data.status === 'failed') {
    const failure = failed.safeParse(json);
    if (!failure.success)
      return invalid("The creator's failure must carry error, and null result, result_hash and signature");
    return { kind: 'failed', message: plainText(failure.data.error) || 'The creator gave no reason' };
  }
  const body = completed.safeParse(json);
  if (!body.success) return invalid("The creator's answer lacks result, result_hash or signature");
  const { result, result_hash: resultHash, signature } = body.data;
  // A lone surrogate has no UTF-8 bytes, so that no hash of it means the same to everybody.
  if (!result.isWellFormed()) return invalid("The creator's result is not valid Unicode");
  if (hashResult(result) !== resultHash) return invalid("The creator's result_hash is not the SHA-256 of its result");
  if (!verifyResultSignature(expected.signingKey, resultHash, signature)) {
    return invalid("The creator's signature is not its listing's signing key's over result_hash");
  }
  const extra = json as { tokens_used?: unknown; steps?: unknown; execution_signature?: unknown };
  const tokens = tokensUsed.safeParse(extra.tokens_used);
  const message = executionMessage(PROGRAM_ID.toBase58(), expected.executionId, expected.requestHash, resultHash);
  const named = extra.execution_signature;
  return {
    kind: 'completed',
    result,
    resultHash,
    signature,
    executionSignature: typeof named === 'string' && verifyMessage(expected.signingKey, message, named) ? named : null,
    tokensUsed: tokens.success ? tokens.data : null,
    steps: readSteps(extra.steps),
  };
}
