/** The requests of the conformance test, and how their answers are judged. */
import { randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import type { SigningCall } from './callSignature.ts';
import { type Expected, type Judgement, judgeNow } from './judge.ts';
import { type HttpAnswer, type Post, postByFetch, showAnswer, showRequest, type TestAnswer } from './testPost.ts';

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

/** One request with its answer. */
export interface Exchange {
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

const RETRY_MS = 250;
const NOT_NOW = new Set([502, 503, 504]);

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
export async function send(
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

export function judge(
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

export async function outcomeOf(
  tools: ConformanceTools,
  target: ConformanceTarget,
  exchange: Exchange,
): Promise<string> {
  const { answer } = exchange;
  if (answer.kind !== 'answer' || answer.status !== 200 || answer.isTooLong) return 'none';
  return (await judge(tools, target, exchange, answer)).verdict.kind;
}

export function describe(answer: TestAnswer): string {
  if (answer.kind === 'late') return 'no answer in time';
  return answer.kind === 'unreachable' ? answer.problem : `HTTP ${answer.status}, but not the expected answer`;
}
