/**
 * Judges a creator's answer: a signed result, an honest failure, or neither. The relay pays by it, and the conformance
 * test reports it.
 */
import * as z from 'zod';
import {
  executionMessage,
  hashResult,
  isResultHash,
  parseSignature,
  verifyMessage,
  verifyResultSignature,
} from '../receipt/receipt.ts';
import { JsonError, parseJson } from '../wire/strictJson.ts';
import { UNSEEN } from '../wire/unseen.ts';

/** Deepest nesting of an answer. */
const MAX_DEPTH = 64;
/** Maximum values in an answer: millions of small ones would cost a hundred times their bytes. */
const MAX_VALUES = 100_000;
/** Longest creator error shown, characters. */
const MAX_ERROR_LENGTH = 500;
/** Largest reasoning trace kept, bytes of JSON. */
const MAX_STEPS_BYTES = 256 * 1024;

/** A result with a valid hash and signature. */
export interface VerifiedResult {
  kind: 'completed';
  /** UTF-8. */
  result: Uint8Array;
  resultHash: string;
  signature: string;
  /** The optional signature that names this very execution, if it is present and valid. */
  executionSignature: string | null;
  tokensUsed: number | null;
  /** JSON text of the trace. */
  steps: string | null;
}

export type Verification = VerifiedResult | { kind: 'failed'; message: string } | { kind: 'invalid'; message: string };

/** The expected answer. `signingKey` is the record's key, 32 bytes; `requestHash` is the record's, hex. */
export interface Expected {
  executionId: string;
  signingKey: Uint8Array;
  requestHash: string;
  /** The marketplace's program, base58. Without it an `execution_signature` is not checked, and dropped. */
  programId?: string;
  /** Maximum of the result; unlimited if absent. */
  maxResultBytes?: number;
}

/** A judged answer, with the checks that it passes, for authors of a creator's server. */
export interface Judgement {
  verdict: Verification;
  /** Why the answer is not JSON; null if it is. */
  jsonFault: string | null;
  /** True if it names the execution. */
  isNamed: boolean;
  /** True if it says `completed` and has a text as result. */
  isCompleted: boolean;
  isHashed: boolean;
  isSigned: boolean;
}

const named = z.looseObject({ execution_id: z.string() });
const ended = z.looseObject({ status: z.enum(['completed', 'failed']) });
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

/** What ends a line or controls a terminal. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Plain text of limited length: other characters would let a creator write into terminals and logs, and hide text. */
export function plainText(text: string): string {
  const cleaned = text.replace(BREAKS, ' ').replace(UNSEEN, '').trim();
  if (cleaned.length <= MAX_ERROR_LENGTH) return cleaned;
  // The cut may be within a character, whose half some programs cannot print.
  return `${cleaned.slice(0, MAX_ERROR_LENGTH - 1).toWellFormed()}…`;
}

function readSteps(steps: unknown, maxBytes: number): string | null {
  if (!Array.isArray(steps)) return null;
  const text = JSON.stringify(steps);
  return Buffer.byteLength(text) <= Math.min(maxBytes, MAX_STEPS_BYTES) ? text : null;
}

export function judgeNow(bytes: Uint8Array, expected: Expected): Judgement {
  let json: unknown;
  try {
    json = parseJson(bytes, { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES, roundNumbers: true });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const jsonFault = `The creator's answer cannot be read: ${error.message}`;
    const nothing = { isNamed: false, isCompleted: false, isHashed: false, isSigned: false };
    return { verdict: { kind: 'invalid', message: jsonFault }, jsonFault, ...nothing };
  }
  const { execution_id, status, result, result_hash, signature } = (json ?? {}) as Record<string, unknown>;
  const isText = typeof result === 'string';
  const verdict = verifyAnswer(json, expected);
  const isGood = verdict.kind === 'completed';
  return {
    verdict,
    jsonFault: null,
    isNamed: execution_id === expected.executionId,
    isCompleted: status === 'completed' && isText,
    isHashed: isGood || (isText && hashResult(result) === result_hash),
    isSigned: isGood || verifyResultSignature(expected.signingKey, String(result_hash), String(signature)),
  };
}

/** Judges an answer's JSON. Invalid tokens_used or steps are dropped and never cost the creator its pay. */
export function verifyAnswer(json: unknown, expected: Expected): Verification {
  const head = named.safeParse(json);
  if (!head.success) return invalid("The creator's answer has no execution_id");
  if (head.data.execution_id !== expected.executionId) return invalid("The creator's answer has another execution_id");
  const end = ended.safeParse(json);
  if (!end.success) return invalid("The creator's status is neither completed nor failed");
  if (end.data.status === 'failed') {
    const failure = failed.safeParse(json);
    if (!failure.success)
      return invalid("The creator's failed answer must have an error, and null as result, result_hash and signature");
    return { kind: 'failed', message: plainText(failure.data.error) || 'The creator gave no reason' };
  }
  const body = completed.safeParse(json);
  if (!body.success) {
    const missing = body.error.issues.map(({ path }) => String(path[0])).join(' and ');
    return invalid(`The creator's completed answer must have a text as ${missing}`);
  }
  const { result, result_hash: resultHash, signature } = body.data;
  // A lone surrogate has no UTF-8 bytes, so implementations would hash it differently.
  if (!result.isWellFormed()) return invalid("The creator's result is not valid Unicode");
  const bytes = Buffer.from(result, 'utf8');
  const { maxResultBytes = Number.POSITIVE_INFINITY } = expected;
  if (bytes.length > maxResultBytes) {
    const limit = `max_result_bytes for its price, ${maxResultBytes}`;
    return invalid(`The creator's result has ${bytes.length} bytes, more than ${limit}`);
  }
  if (!isResultHash(resultHash)) {
    return invalid("The creator's result_hash must be sha256: and 64 lower-case hex digits");
  }
  if (hashResult(result) !== resultHash) return invalid("The creator's result_hash is not the SHA-256 of its result");
  if (parseSignature(signature) === null) {
    return invalid("The creator's signature must be ed25519: and the base58 of 64 bytes");
  }
  if (!verifyResultSignature(expected.signingKey, resultHash, signature)) {
    return invalid("The creator's signature is not a valid signature of result_hash by the listing's signing key");
  }
  const extra = json as { tokens_used?: unknown; steps?: unknown; execution_signature?: unknown };
  const tokens = tokensUsed.safeParse(extra.tokens_used);
  return {
    kind: 'completed',
    result: bytes,
    resultHash,
    signature,
    executionSignature: readExecutionSignature(extra.execution_signature, expected, resultHash),
    tokensUsed: tokens.success ? tokens.data : null,
    steps: readSteps(extra.steps, maxResultBytes),
  };
}

function readExecutionSignature(signature: unknown, expected: Expected, resultHash: string): string | null {
  const { programId, executionId, requestHash, signingKey } = expected;
  if (typeof signature !== 'string' || programId === undefined) return null;
  const message = executionMessage(programId, executionId, requestHash, resultHash);
  return verifyMessage(signingKey, message, signature) ? signature : null;
}
