/** Makes the HTTP call to the creator's server. It only returns the answer; `verify.ts` judges it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, errors, request as httpRequest } from 'undici';
import type { SigningCall } from '../../sdk/creator/callSignature.ts';
import { describeConnectionFault } from '../../sdk/creator/connectionFault.ts';
import { MAX_ANSWER_BYTES } from '../../sdk/creator/testPost.ts';
import { EVENT_STREAM, isEventStream } from '../../sdk/wire/eventStream.ts';
import { statusText } from '../../sdk/wire/redirects.ts';
import {
  AnswerTooLarge,
  beginningOf,
  type CreatorAnswer,
  MAX_LONG_ANSWERS,
  type RawAnswer,
  readBeginning,
  readBounded,
} from './answerBody.ts';
import { createConnector, ForbiddenEndpoint, type Resolve } from './egress.ts';
import { type OnDelta, readStreamed } from './streamed.ts';
import { createTurnsByServer } from './turns.ts';

const RETRY_FIRST_MS = 100;
/** A model may think for a while before its next words. */
const STREAM_IDLE_MS = 30_000;
/** Added before rounding down, so that the first call gets the whole timeout although its clock has just started. */
const ROUNDING_MS = 100;
const RETRY_MAX_MS = 2_000;
/** These answers say "not now": nothing ran, so the same execution may be sent again. */
const RETRIED_STATUSES = new Set([502, 503, 504]);

/** The spec's request to a creator. */
export interface CreatorRequest {
  execution_id: string;
  task: string;
  /** JSON text. */
  parameters: string;
  user_pubkey: string;
  timeout_seconds: number;
}

export type { CreatorAnswer } from './answerBody.ts';

export interface CreatorCall {
  endpoint: string;
  request: CreatorRequest;
  /** The key that verifies the answer, base58. */
  signingKey: string;
  /** On performance.now()'s clock. */
  deadlineMs: number;
  /** If given, the creator may stream its answer. Receives the deltas of the first attempt that has any. */
  onDelta?: OnDelta;
  stop?: AbortSignal;
}

interface CreatorPoolOptions {
  /** Allows private addresses and http: for a local network only. */
  allowPrivate: boolean;
  /** The headers that prove that this marketplace made the call. */
  sign: (call: SigningCall) => Promise<Record<string, string>>;
  resolve?: Resolve;
  /** Longest silence of a streamed answer. */
  streamIdleMs?: number;
}

export type CreatorPool = ReturnType<typeof createCreatorPool>;

/** Connections to creators, kept open between calls. One for the whole relay. */
export function createCreatorPool(options: CreatorPoolOptions) {
  const { allowPrivate, sign, resolve, streamIdleMs = STREAM_IDLE_MS } = options;
  const agent = new Agent({
    connect: createConnector({ allowPrivate, ...(resolve && { resolve }) }),
    connections: 256,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
  });
  /** The turns for reading long answers of a server. */
  const turnsOf = createTurnsByServer(MAX_LONG_ANSWERS);
  return { agent, sign, streamIdleMs, turnsOf, destroy: () => agent.destroy() };
}

/** An answer that says "not now". */
interface NotNow {
  kind: 'notNow';
  raw: RawAnswer;
}

/** Sends a request as a creator gets it. Throws on connection errors. */
export async function sendToCreator(
  agent: Agent,
  url: string,
  { headers, body, signal }: { headers: Record<string, string>; body: Uint8Array; signal: AbortSignal },
) {
  const response = await httpRequest(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { ...headers, 'accept-encoding': 'identity' },
    body,
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // A body destroyed before its end emits an error event, which without a listener ends the process.
  response.body.on('error', () => undefined);
  return response;
}

/** Why this endpoint can never be called; null for an error after which it may answer. */
export function whyNever(error: unknown): string | null {
  const isNever = error instanceof ForbiddenEndpoint || error instanceof errors.InvalidArgumentError;
  return isNever ? `The creator's server cannot be called: ${error.message}` : null;
}

/** One attempt. Throws on connection errors. */
async function attempt(
  pool: CreatorPool,
  { endpoint, request, signingKey, onDelta }: CreatorCall,
  secondsLeft: number,
  signal: AbortSignal,
): Promise<CreatorAnswer | NotNow> {
  const body = renderRequest({ ...request, timeout_seconds: secondsLeft });
  const signature = await pool.sign({ url: endpoint, body, purpose: 'execution', signingKey });
  const accept = onDelta ? `${EVENT_STREAM}, application/json` : 'application/json';
  const response = await sendToCreator(pool.agent, endpoint, { headers: { ...signature, accept }, body, signal });
  const { statusCode: status, headers } = response;
  if (status !== 200) {
    const raw = { status, ...(await readBeginning(response.body)) };
    if (RETRIED_STATUSES.has(status)) return { kind: 'notNow', raw };
    return { kind: 'failed', message: `The creator's server answered with ${statusText(status)}`, raw };
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    response.body.destroy();
    const raw = { status, body: Buffer.alloc(0), isCut: true };
    return { kind: 'invalid', message: "The creator's answer is compressed; compression is not supported", raw };
  }
  if (onDelta && isEventStream(headers['content-type']?.toString())) {
    return readStreamed(response.body, { onDelta, turns: pool.turnsOf(endpoint), signal, idleMs: pool.streamIdleMs });
  }
  try {
    return { kind: 'body', body: await readBounded(response.body, pool.turnsOf(endpoint), signal) };
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    response.body.destroy();
    const raw = { status, ...beginningOf(error.chunks) };
    return { kind: 'invalid', message: `The creator's answer is larger than ${MAX_ANSWER_BYTES} bytes`, raw };
  }
}

/** The request's JSON; its parameters are JSON already. */
export function renderRequest({ parameters, ...request }: CreatorRequest): Buffer {
  const { execution_id, task, ...rest } = request;
  const [head, tail] = [JSON.stringify({ execution_id, task }), JSON.stringify(rest)];
  return Buffer.from(`${head.slice(0, -1)},"parameters":${parameters},${tail.slice(1)}`);
}

/** One attempt until the deadline; 'deadline' if that passes first. */
async function attemptInTime(
  pool: CreatorPool,
  call: CreatorCall,
  leftMs: number,
): Promise<CreatorAnswer | NotNow | 'deadline'> {
  const giveUp = new AbortController();
  const signal = call.stop ? AbortSignal.any([giveUp.signal, call.stop]) : giveUp.signal;
  const secondsLeft = Math.max(1, Math.floor((leftMs + ROUNDING_MS) / 1000));
  const answer = attempt(pool, call, secondsLeft, signal);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<'deadline'>((resolve) => {
    timer = setTimeout(resolve, Math.ceil(leftMs), 'deadline');
  });
  const inTime = await Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
  if (inTime === 'deadline') {
    answer.catch(() => undefined);
    giveUp.abort();
  }
  return inTime;
}

/**
 * Calls the creator until it answers or the deadline passes. Connection errors and 502, 503, 504 are retried with the
 * same execution_id, and with the remaining whole seconds as timeout.
 */
export async function callCreator(pool: CreatorPool, call: CreatorCall): Promise<CreatorAnswer> {
  const timeout = `The agent did not respond within ${call.request.timeout_seconds} seconds`;
  let pause = RETRY_FIRST_MS;
  let lastProblem = '';
  let raw: RawAnswer | null = null;
  // A caller must not read the same words twice, so a retry after a delta asks for the whole answer.
  let isStreamed = false;
  const { onDelta, ...plain } = call;
  const streaming = onDelta && {
    ...call,
    onDelta: (text: string) => {
      isStreamed = true;
      return onDelta(text);
    },
  };
  for (;;) {
    const leftMs = call.deadlineMs - performance.now();
    if (leftMs <= 0) break;
    try {
      const answer = await attemptInTime(pool, streaming && !isStreamed ? streaming : plain, leftMs);
      // Do not read the clock again: a timer may fire a moment early, and the creator would be called once more.
      if (answer === 'deadline') break;
      if (answer.kind !== 'notNow') return answer;
      raw = answer.raw;
      lastProblem = `the server answered with ${statusText(raw.status)}`;
    } catch (error) {
      if (call.stop?.aborted) throw call.stop.reason;
      const never = whyNever(error);
      if (never) return { kind: 'failed', message: never };
      raw = null;
      lastProblem = describeConnectionFault(error);
    }
    const rest = call.deadlineMs - performance.now();
    if (rest > 0) await sleep(Math.min(pause, rest), undefined, { signal: call.stop }).catch(() => undefined);
    if (call.stop?.aborted) throw call.stop.reason;
    pause = Math.min(pause * 2, RETRY_MAX_MS);
  }
  return { kind: 'timeout', message: lastProblem ? `${timeout}; last problem: ${lastProblem}` : timeout, raw };
}
