/**
 * The conformance test of a creator's server: sends it requests as the marketplace does, and judges each answer as a
 * paid one. The relay runs it for the page and signs with its own keys. `creator test` and a creator's own tests run it
 * with keys that `createTestKeys` makes.
 */
import { generateKeyPairSync } from 'node:crypto';
import { CONFORMANCE_CHECKS, type ConformanceCheck } from '../wire/conformance.ts';
import { statusText } from '../wire/redirects.ts';
import { callKeyId, type PublicJwk, signCall } from './callSignature.ts';
import {
  type ConformanceTarget,
  type ConformanceTools,
  type Exchange,
  judge,
  outcomeOf,
  send,
} from './conformanceCalls.ts';
import {
  judgeDeadline,
  judgeFailure,
  judgeRefusal,
  judgeRepeat,
  judgeStart,
  SLOW_START_MS,
} from './conformanceRest.ts';
import type { VerifiedResult } from './judge.ts';
import { generateSigningKey, signingKeyAddress } from './signingKey.ts';
import type { HttpAnswer } from './testPost.ts';

/** The shortest timeout that a caller can ask for, and the wait for requests that need no work. */
const SHORTEST_SECONDS = 1;
const REFUSAL_MS = 10_000;

/** How long the first request is retried after 502, 503 or 504. A paid call is retried until its deadline. */
const PATIENCE_MS = 30_000;

/** One check: the request, the answer and the expectation. */
export interface Finding {
  name: ConformanceCheck;
  ok: boolean;
  /** False if paid calls do not depend on it. */
  required: boolean;
  expected: string;
  detail: string;
  duration_ms: number;
  sent: string | null;
  received: string | null;
}

export interface Conformance {
  /** True if all required checks passed, so a paid call would have been settled. */
  ok: boolean;
  findings: Finding[];
  /** The answer to the first request. */
  answer: HttpAnswer | null;
  /** The result of the first request, if it would have been paid. */
  result: VerifiedResult | null;
}

/** Creates a call key for a test without a marketplace. The server must trust `directory`, or its `keys`. */
export function createTestKeys(): { sign: ConformanceTools['sign']; directory: { keys: PublicJwk[] } } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
  const keyId = callKeyId(jwk);
  return { sign: (call) => signCall({ keyId, privateKey }, call), directory: { keys: [{ ...jwk, kid: keyId }] } };
}

/** A finding with the texts of CONFORMANCE_CHECKS. */
export function finding(name: ConformanceCheck, found: Pick<Finding, 'ok' | 'detail'> & Partial<Finding>): Finding {
  const { required, expected } = CONFORMANCE_CHECKS.find((check) => check.name === name)!;
  return { name, required, expected, duration_ms: 0, sent: null, received: null, ...found };
}

type Say = (name: ConformanceCheck, ok: boolean, detail: string) => boolean;

/**
 * Runs the test. The required checks come first and end at the first that fails. With `full` all others follow, most of
 * them with a new request.
 */
export async function testCreator(
  tools: ConformanceTools,
  target: ConformanceTarget,
  { full }: { full: boolean },
): Promise<Conformance> {
  const findings: Finding[] = [];
  const say =
    (exchange: Exchange): Say =>
    (name, ok, detail) => {
      const { sent, received, ms } = exchange;
      findings.push(finding(name, { ok, detail, duration_ms: Math.round(ms), sent, received }));
      return ok;
    };
  const first = await send(tools, target, {}, PATIENCE_MS);
  const result = await checkFirst(tools, target, first, say(first));
  if (result && full) await checkRest(tools, target, first, say);
  const ok = findings.every((one) => one.ok || !one.required);
  return { ok: ok && result !== null, findings, answer: first.answer.kind === 'answer' ? first.answer : null, result };
}

/** The checks that paid calls depend on. Returns the result if all pass. */
async function checkFirst(
  tools: ConformanceTools,
  target: ConformanceTarget,
  exchange: Exchange,
  say: Say,
): Promise<VerifiedResult | null> {
  const { answer } = exchange;
  if (answer.kind === 'late') {
    say('reachable', false, `The agent did not respond within ${target.timeoutSeconds} seconds`);
    return null;
  }
  if (answer.kind === 'unreachable') {
    say('reachable', false, answer.problem);
    return null;
  }
  if (answer.status !== 200) {
    say('reachable', false, `The creator's server answered with ${statusText(answer.status)}`);
    return null;
  }
  say('reachable', true, `${target.url} answered`);
  const sizeFault = answer.isCompressed
    ? "The creator's answer is compressed; compression is not supported"
    : answer.isTooLong && "The creator's answer is larger than 5 MiB";
  if (!say('size', !sizeFault, sizeFault || 'an uncompressed answer of at most 5 MiB')) return null;
  const { verdict, ...found } = await judge(tools, target, exchange, answer);
  if (!say('json', found.jsonFault === null, found.jsonFault ?? 'the answer is JSON')) return null;
  const named = found.isNamed ? 'equals the request' : 'differs from the execution_id of the request';
  if (!say('execution_id', found.isNamed, named)) return null;
  const reason =
    verdict.kind === 'failed'
      ? `the agent reported a failure: ${verdict.message}`
      : 'expected "completed" with a result';
  if (!say('status', found.isCompleted, found.isCompleted ? 'completed' : reason)) return null;
  const hashed = found.isHashed
    ? 'is the SHA-256 of the result'
    : 'expected "sha256:" and the lower-case hex SHA-256 of result';
  if (!say('result_hash', found.isHashed, hashed)) return null;
  const signatureRule = `expected "ed25519:" and the base58 signature of ${target.signingKey} over result_hash`;
  // The verdict decides, as it does for a paid execution.
  const judged =
    verdict.kind === 'completed' ? 'is the signature of the signing key over result_hash' : verdict.message;
  say('signature', found.isSigned && verdict.kind === 'completed', found.isSigned ? judged : signatureRule);
  return verdict.kind === 'completed' && found.isSigned ? verdict : null;
}

/** The checks that follow a good first answer. */
async function checkRest(
  tools: ConformanceTools,
  target: ConformanceTarget,
  first: Exchange,
  say: (exchange: Exchange) => Say,
): Promise<void> {
  const type = first.answer.kind === 'answer' ? first.answer.contentType : null;
  const isJson = type?.split(';')[0]?.trim().toLowerCase() === 'application/json';
  say(first)('content_type', isJson, type ?? 'the answer has no Content-Type');

  const { executionId } = first;
  const repeat = await send(tools, target, { executionId, waitMs: first.ms + 2 * SLOW_START_MS });
  say(repeat)('repeated_id', ...judgeRepeat(first, repeat));

  const hurried = await send(tools, target, { timeoutSeconds: SHORTEST_SECONDS });
  const kind = await outcomeOf(tools, target, hurried);
  say(hurried)('deadline', ...judgeDeadline(hurried, kind));
  say(first)('slow_start', ...judgeStart(first, kind === 'completed' ? hurried.ms : null));

  const signingKey = signingKeyAddress(generateSigningKey());
  const unknown = await send(tools, { ...target, signingKey }, { waitMs: REFUSAL_MS });
  say(unknown)('failure', ...(await judgeFailure(tools, { ...target, signingKey }, unknown)));

  const changes = [
    ['media_type', { contentType: 'text/plain' }],
    ['unsigned', { isUnsigned: true }],
    ['forged', { isAltered: true }],
  ] as const;
  for (const [name, change] of changes) {
    const exchange = await send(tools, target, { ...change, waitMs: REFUSAL_MS });
    say(exchange)(name, ...judgeRefusal(exchange.answer));
  }
}
