/**
 * The conformance test of a creator's server: sends it requests as the marketplace does, and judges each answer as a
 * paid one. The relay runs it for the page and signs with its own keys. `creator test` and a creator's own tests run it
 * with keys that `createTestKeys` makes.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import { CONFORMANCE_CHECKS, type ConformanceCheck } from '../wire/conformance.ts';
import { statusText } from '../wire/redirects.ts';
import { callKeyId, type PublicJwk, type SigningCall, signCall } from './callSignature.ts';
import { type Expected, type Judgement, judgeNow, type VerifiedResult } from './judge.ts';
import { generateSigningKey, signingKeyAddress } from './signingKey.ts';
import { type HttpAnswer, type Post, postByFetch, showAnswer, showRequest, type TestAnswer } from './testPost.ts';

/** The shortest timeout that a caller can ask for, and the wait for requests that need no work. */
const SHORTEST_SECONDS = 1;
const REFUSAL_MS = 10_000;
/** Allowed extra time of the first answer, and the longest work whose repeat is not timed. */
const SLOW_START_MS = 2_000;
const TIMED_WORK_MS = 1_000;
/** How long the first request is retried after 502, 503 or 504. A paid call is retried until its deadline. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 250;
const NOT_NOW = new Set([502, 503, 504]);

/** The server to test, and a request that it can complete. */
export interface ConformanceTarget {
  /** The URL that receives the requests. */
  url: string;
  /** The key that signs its results, base58. */
  signingKey: string;
  task: string;
  /** JSON text of an object. */
  parameters: string;
  /** A wallet's address. */
  userPubkey: string;
  timeoutSeconds: number;
  /** Maximum bytes of a result at the listing's price. Default: the limit of an answer. */
  maxResultBytes?: number;
}

export interface ConformanceTools {
  /** The headers that sign a call. The server must trust the key. */
  sign(call: SigningCall): Promise<Record<string, string>>;
  /** Default: by fetch. */
  post?: Post;
  judge?(body: readonly Uint8Array[], expected: Expected): Promise<Judgement>;
  /** True if the server may still be starting: the first request is retried while nothing listens. Default: false. */
  isStarting?: boolean;
}

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

/** One request with its answer. */
interface Exchange {
  executionId: string;
  timeoutSeconds: number;
  answer: TestAnswer;
  /** Time from the request to the answer. */
  ms: number;
  /** Number of answered requests, including the one with `answer`. Requests before the server listens do not count. */
  attempts: number;
  sent: string;
  received: string | null;
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

type Verdict = [ok: boolean, detail: string];

function judgeRepeat(first: Exchange, repeat: Exchange): Verdict {
  const [before, after] = [signedPart(first.answer), signedPart(repeat.answer)];
  if (after === null) return [false, describe(repeat.answer)];
  if (before !== after) return [false, 'the status, result, result_hash or signature differs from the first answer'];
  const same = 'the same answer';
  if (first.ms < TIMED_WORK_MS) return [true, `${same}; too fast to tell whether the repeat did the work again`];
  const isDoneAgain = repeat.ms > first.ms / 2;
  const times = `the first took ${Math.round(first.ms)} ms, the repeat ${Math.round(repeat.ms)} ms`;
  return [!isDoneAgain, isDoneAgain ? `${same}, but ${times}: the work was done again` : `${same}; ${times}`];
}

function judgeDeadline(exchange: Exchange, kind: string): Verdict {
  if (exchange.answer.kind === 'late') return [false, `no answer within ${exchange.timeoutSeconds} s`];
  const isAnswered = kind === 'completed' || kind === 'failed';
  return [isAnswered, isAnswered ? `"${kind}" after ${Math.round(exchange.ms)} ms` : describe(exchange.answer)];
}

function judgeStart(first: Exchange, laterMs: number | null): Verdict {
  const took = `the first answer took ${Math.round(first.ms)} ms`;
  if (first.attempts > 1)
    return [false, `${took}, after ${first.attempts - 1} answers with 502, 503 or 504: the server was not ready`];
  if (laterMs === null) return [true, `${took}; no later answer to compare with`];
  return [first.ms - laterMs <= SLOW_START_MS, `${took}, a later answer ${Math.round(laterMs)} ms`];
}

/** Judges a call that names a key which no server has. Its result could never be paid. */
async function judgeFailure(tools: ConformanceTools, target: ConformanceTarget, exchange: Exchange): Promise<Verdict> {
  const { answer } = exchange;
  if (answer.kind !== 'answer') return [false, describe(answer)];
  if (answer.status >= 400) {
    return [true, `HTTP ${answer.status}, which is refunded too; "failed" with an error would tell the caller why`];
  }
  if (answer.status !== 200 || answer.isTooLong) return [false, describe(answer)];
  const { verdict, isCompleted } = await judge(tools, target, exchange, answer);
  if (verdict.kind === 'failed') return [true, `failed: ${verdict.message}`];
  if (isCompleted) {
    return [
      false,
      '"completed", but not signed with the key that marketplace-signing-key names: such a result is never paid',
    ];
  }
  return [false, verdict.kind === 'invalid' ? verdict.message : describe(answer)];
}

function judgeRefusal(answer: TestAnswer): Verdict {
  const isRefused = answer.kind === 'answer' && answer.status >= 400 && answer.status < 500;
  if (isRefused) return [true, `HTTP ${answer.status}`];
  const isTaken = answer.kind === 'answer' && answer.status < 300;
  return [false, isTaken ? `HTTP ${answer.status}: the server accepted the request` : describe(answer)];
}

/** The part of an answer that is the same in a repeat; null if the answer has none. */
function signedPart(answer: TestAnswer): string | null {
  if (answer.kind !== 'answer' || answer.status !== 200 || answer.isTooLong) return null;
  try {
    const { status, result, result_hash, signature } = JSON.parse(Buffer.concat(answer.body).toString('utf8'));
    return JSON.stringify([status, result, result_hash, signature]);
  } catch {
    return null;
  }
}

function describe(answer: TestAnswer): string {
  if (answer.kind === 'late') return 'no answer in time';
  return answer.kind === 'unreachable' ? answer.problem : `HTTP ${answer.status}, but not the expected answer`;
}

async function outcomeOf(tools: ConformanceTools, target: ConformanceTarget, exchange: Exchange): Promise<string> {
  const { answer } = exchange;
  if (answer.kind !== 'answer' || answer.status !== 200 || answer.isTooLong) return 'none';
  return (await judge(tools, target, exchange, answer)).verdict.kind;
}

function judge(
  { judge: judgeBody }: ConformanceTools,
  { signingKey, maxResultBytes }: ConformanceTarget,
  { executionId }: Exchange,
  { body }: HttpAnswer,
): Promise<Judgement> {
  const expected: Expected = {
    executionId,
    signingKey: bs58.decodeUnsafe(signingKey) ?? new Uint8Array(),
    requestHash: '',
    ...(maxResultBytes !== undefined && { maxResultBytes }),
  };
  return judgeBody ? judgeBody(body, expected) : Promise.resolve(judgeNow(Buffer.concat(body), expected));
}

interface Change {
  /** Default: a new one. */
  executionId?: string;
  timeoutSeconds?: number;
  /** Longest wait, if shorter than the timeout. */
  waitMs?: number;
  contentType?: string;
  isUnsigned?: boolean;
  /** The body differs from the signed one. */
  isAltered?: boolean;
}

/** Sends one request, as the marketplace does or with a change. Retries for `patienceMs` if the server is not ready. */
async function send(
  tools: ConformanceTools,
  target: ConformanceTarget,
  change: Change,
  patienceMs = 0,
): Promise<Exchange> {
  const { executionId = randomUUID(), timeoutSeconds = target.timeoutSeconds } = change;
  const begunMs = performance.now();
  for (let attempts = 0; ; ) {
    const body = render(target, executionId, timeoutSeconds);
    const { url, signingKey } = target;
    const signed = await tools.sign({ url, body, purpose: 'test', signingKey });
    const type = { 'content-type': change.contentType ?? 'application/json' };
    const sentMs = performance.now();
    const request = {
      url,
      headers: change.isUnsigned ? type : { ...signed, ...type },
      body: change.isAltered ? render(target, randomUUID(), timeoutSeconds) : body,
      deadlineMs: sentMs + Math.min(timeoutSeconds * 1_000, change.waitMs ?? Number.POSITIVE_INFINITY),
    };
    const answer = await (tools.post ?? postByFetch)(request);
    const ms = performance.now() - sentMs;
    if (answer.kind !== 'unreachable') attempts += 1;
    const isNotNow =
      answer.kind === 'unreachable'
        ? tools.isStarting === true
        : answer.kind === 'answer' && NOT_NOW.has(answer.status);
    if (!isNotNow || performance.now() - begunMs > patienceMs) {
      const shown = { sent: showRequest(request), received: showAnswer(answer) };
      return { executionId, timeoutSeconds, answer, ms, attempts, ...shown };
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** The specification's request; its parameters are JSON already. */
function render({ task, parameters, userPubkey }: ConformanceTarget, executionId: string, timeoutSeconds: number) {
  const head = JSON.stringify({ execution_id: executionId, task });
  const tail = JSON.stringify({ user_pubkey: userPubkey, timeout_seconds: timeoutSeconds });
  return Buffer.from(`${head.slice(0, -1)},"parameters":${parameters},${tail.slice(1)}`);
}
