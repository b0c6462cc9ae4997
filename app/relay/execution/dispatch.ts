// The HTTP call to the creator's server, and nothing else: it says what came back, `verify.ts` what it is worth.

import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request as httpRequest } from 'undici';
import { JsonError, parseJson } from '../json.ts';

/** Largest answer read, bytes. */
export const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
/** Deepest nesting of an answer. */
const MAX_ANSWER_DEPTH = 64;
const CONNECT_TIMEOUT_MS = 10_000;
const RETRY_FIRST_MS = 100;
/** So that the first call, a moment after its clock has started, still names the whole timeout. */
const ROUNDING_MS = 100;
const RETRY_MAX_MS = 2_000;
/** Answers that say "not now": nothing ran, so the same execution may be sent again. */
const RETRIED_STATUSES = new Set([502, 503, 504]);

/** The spec's request to a creator. */
export interface CreatorRequest {
  execution_id: string;
  task: string;
  parameters: Record<string, unknown>;
  user_pubkey: string;
  timeout_seconds: number;
}

/** What came back: a JSON value, nothing in time, or something that is final and not an answer. */
export type CreatorAnswer =
  | { kind: 'body'; json: unknown }
  | { kind: 'timeout'; message: string }
  | { kind: 'failed'; message: string }
  | { kind: 'invalid'; message: string };

/** Connections to creators, kept open between calls. One for the whole relay. */
export function createCreatorPool(): Agent {
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    connections: 256,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
  });
}

class AnswerTooLarge extends Error {}

async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** One attempt. Returns null where it may be tried again. Throws on connection errors. */
async function attempt(
  pool: Agent,
  endpoint: string,
  body: string,
  signal: AbortSignal,
): Promise<CreatorAnswer | null> {
  const response = await httpRequest(endpoint, {
    dispatcher: pool,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
    body,
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const { statusCode, headers } = response;
  // A body that is destroyed before its end says so as an error event, which without a listener ends the process.
  response.body.on('error', () => undefined);
  if (statusCode !== 200) {
    // Unread bodies keep their connection busy; dumping reads a little and closes the rest.
    await response.body.dump({ limit: 16 * 1024 }).catch(() => undefined);
    if (RETRIED_STATUSES.has(statusCode)) return null;
    return { kind: 'failed', message: `The creator's server answered with status ${statusCode}` };
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    response.body.destroy();
    return { kind: 'invalid', message: "The creator's answer is compressed, which was not asked for" };
  }
  let bytes: Buffer;
  try {
    bytes = await readBounded(response.body);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    response.body.destroy();
    return { kind: 'invalid', message: `The creator's answer is larger than ${MAX_ANSWER_BYTES} bytes` };
  }
  try {
    return { kind: 'body', json: parseJson(bytes, { maxDepth: MAX_ANSWER_DEPTH }) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { kind: 'invalid', message: `The creator's answer is not valid JSON: ${error.message}` };
  }
}

/**
 * Call the creator until it answers or `deadlineMs` (on performance.now()'s clock) passes. Connection errors and
 * 502, 503, 504 are tried again with the same execution_id, each time sending the whole seconds left; `once` gives up
 * at the first.
 */
export async function callCreator(
  pool: Agent,
  call: { endpoint: string; request: CreatorRequest; deadlineMs: number; once?: boolean; stop?: AbortSignal },
): Promise<CreatorAnswer> {
  const timeout: CreatorAnswer = {
    kind: 'timeout',
    message: `The agent did not respond within ${call.request.timeout_seconds} seconds`,
  };
  let pause = RETRY_FIRST_MS;
  let lastProblem = '';
  for (;;) {
    const leftMs = call.deadlineMs - performance.now();
    if (leftMs <= 0)
      return lastProblem ? { ...timeout, message: `${timeout.message}; last problem: ${lastProblem}` } : timeout;
    const signals = [AbortSignal.timeout(Math.ceil(leftMs)), ...(call.stop ? [call.stop] : [])];
    const secondsLeft = Math.max(1, Math.floor((leftMs + ROUNDING_MS) / 1000));
    const body = JSON.stringify({ ...call.request, timeout_seconds: secondsLeft });
    try {
      const answer = await attempt(pool, call.endpoint, body, AbortSignal.any(signals));
      if (answer) return answer;
      lastProblem = 'the server is unavailable';
    } catch (error) {
      if (call.stop?.aborted) throw call.stop.reason;
      lastProblem = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
    }
    const rest = call.deadlineMs - performance.now();
    if (call.once && rest > 0) return { kind: 'failed', message: `The server cannot be reached: ${lastProblem}` };
    if (rest > 0) await sleep(Math.min(pause, rest), undefined, { signal: call.stop }).catch(() => undefined);
    if (call.stop?.aborted) throw call.stop.reason;
    pause = Math.min(pause * 2, RETRY_MAX_MS);
  }
}
