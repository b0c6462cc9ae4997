/**
 * A creator's server: it takes the marketplace's `POST /execute`, runs the creator's function within the timeout, signs
 * the result and answers as specified. A repeated execution_id gets the same bytes, so a retry after a lost connection
 * never runs the same work twice.
 *
 * To change the signing key without losing a call: add the new key to the server, rotate the listing's key, and remove
 * the old key after the longest timeout. Each call names the key that it needs.
 *
 *     createCreatorServer({ signingKey: loadSigningKey('key.json'), execute: async ({ task }) => ({ result: task }) })
 *       .listen(8080);
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { executionMessage, hashResult, requestHash, signMessage, signResult } from '../receipt/receipt.ts';
import { createAnswers } from './answers.ts';
import { type CallTrust, type CallVerifier, createCallVerifier } from './callVerifier.ts';
import {
  type ExecutionRequest,
  invalid,
  methodNotAllowed,
  RequestError,
  readExecutionRequest,
} from './creatorRequest.ts';
import { createDeltas, type SendDelta } from './deltas.ts';
import { heldKey, signingKeyAddress, signingKeysOf } from './signingKey.ts';

export type { CallPurpose } from './callSignature.ts';
export { type CallTrust, type CallVerifier, createCallVerifier } from './callVerifier.ts';
export { type ExecutionRequest, parseExecutionRequest, RequestError, readExecutionRequest } from './creatorRequest.ts';
export type { SendDelta } from './deltas.ts';
export { generateSigningKey, loadSigningKey, saveSigningKey, signingKeyAddress } from './signingKey.ts';

export interface ExecutionOutput {
  result: string;
  /** LLM tokens used, a whole number shown to callers. */
  tokensUsed?: number;
  /** Reasoning trace shown to callers. */
  steps?: unknown[];
}

/** Throw it for a reason that the caller may read. The text of any other error goes only to the creator's own log. */
export class ExecutionFailure extends Error {
  override name = 'ExecutionFailure';
}

export interface ExecutionContext {
  /** Aborts shortly before the deadline; a later result is not used. */
  signal: AbortSignal;
  /**
   * Sends the caller a part of the output while it is made, if the caller asked for that. It is not verified: only the
   * result is signed and paid. Await it if you make output faster than it can be sent.
   */
  delta: SendDelta;
}

export interface CreatorOptions {
  /** 64 bytes, seed then public key: `loadSigningKey`. Several keys, newest first, while a listing's key changes. */
  signingKey: Uint8Array | readonly Uint8Array[];
  /** Does the work. */
  execute: (request: ExecutionRequest, context: ExecutionContext) => ExecutionOutput | Promise<ExecutionOutput>;
  /** Base58 address of the marketplace's program. If given, answers also bind the result to the execution. */
  programId?: string;
  /**
   * Refuses calls that the marketplace did not sign, with 401. `{ directoryUrl }` is the URL of its key directory.
   * Without `verify`, anyone who knows the address can run work here.
   */
  verify?: CallTrust | CallVerifier;
  /** Largest request body. Default 8 MiB: a caller's 1 MiB grows when numbers such as 1e20 are written out. */
  maxBodyBytes?: number;
  /** Largest answer; a longer one becomes a failure with that reason. Default 5 MiB, the marketplace's own limit. */
  maxAnswerBytes?: number;
  /**
   * How long and how many bytes of answers are kept for repeats. Default: 2 hours since the last use, 64 MiB in total.
   */
  rememberMs?: number;
  rememberBytes?: number;
  /** If false, wait for `execute` even past the deadline, although the marketplace no longer listens. Default true. */
  failBeforeDeadline?: boolean;
  /** Called with errors that are not an ExecutionFailure. Default: console.error without task, parameters or wallet. */
  onError?: (error: unknown, executionId: string) => void;
}

export interface CompletedAnswer {
  execution_id: string;
  status: 'completed';
  result: string;
  result_hash: string;
  signature: string;
  execution_signature?: string;
  tokens_used?: number;
  steps?: unknown[];
}

export interface FailedAnswer {
  execution_id: string;
  status: 'failed';
  result: null;
  result_hash: null;
  signature: null;
  error: string;
}

const MEBIBYTE = 1024 * 1024;
/** A server with `POST /execute` and `GET /health`. Call `listen` on it, and put TLS in front of it. */
export function createCreatorServer(options: CreatorOptions): Server {
  const handleExecution = createExecutionHandler(options);
  const [newest] = signingKeysOf(options.signingKey);
  const health = Buffer.from(JSON.stringify({ status: 'ok', signing_key: signingKeyAddress(newest) }));
  return createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/execute') return handleExecution(request, response);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/health' && isRead) return sendJson(response, 200, health);
    if (path === '/health') return sendError(response, methodNotAllowed('GET, HEAD'), { allow: 'GET, HEAD' });
    sendError(response, new RequestError(404, 'not_found', 'this server has only POST /execute and GET /health'));
  });
}

/**
 * The handler alone, for a server with other routes: `app.post('/execute', createExecutionHandler(options))`. It reads
 * the body itself, or takes the one that express.json() has parsed. To verify calls it needs the bytes, so it must come
 * before express.json().
 */
export function createExecutionHandler(
  options: CreatorOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { maxBodyBytes = 8 * MEBIBYTE, rememberMs = 7_200_000, rememberBytes = 64 * MEBIBYTE } = options;
  const answers = createAnswers(rememberMs, rememberBytes);
  const verify = typeof options.verify === 'object' ? createCallVerifier(options.verify) : options.verify;
  const keys = signingKeysOf(options.signingKey);
  return (request, response) => {
    const deltas = createDeltas(request, response);
    readExecutionRequest(request, maxBodyBytes, verify)
      .then((execution) => {
        const { executionId, signingKey } = execution;
        // A result signed by another key is never paid, and without an answer the caller would wait until its deadline.
        // An immediate failure costs nothing. It is not stored, because the key may be added.
        if (!heldKey(keys, signingKey)) {
          const reason = `this server does not have the signing key ${signingKey}`;
          return bytesOf(failedAnswer(executionId, reason));
        }
        const fingerprint = fingerprintOf(execution);
        const answer = answers.once(executionId, fingerprint, () => runExecution(options, execution, deltas.send));
        if (answer) return answer;
        throw new RequestError(
          409,
          'execution_id_reused',
          'this execution_id was used before with another task or parameters',
        );
      })
      .then((answer) => {
        if (!deltas.finish(answer)) sendJson(response, 200, answer);
      })
      .catch((error: unknown) => {
        if (error instanceof RequestError) {
          return sendError(response, error, error.status === 405 ? { allow: 'POST' } : {});
        }
        // The connection broke while the body was read, so there is nobody to answer.
        response.destroy();
      });
  };
}

/**
 * The signed answer to `request`, with the key that it names, else with the newest. Lone surrogates, which UTF-8 cannot
 * carry, become U+FFFD before hashing.
 */
export function completedAnswer(
  options: Pick<CreatorOptions, 'signingKey' | 'programId'>,
  request: ExecutionRequest,
  output: ExecutionOutput,
): CompletedAnswer {
  if (typeof output?.result !== 'string') throw new TypeError('execute must return { result: string }');
  const result = output.result.toWellFormed();
  const resultHash = hashResult(result);
  const signingKey = heldKey(signingKeysOf(options.signingKey), request.signingKey);
  if (!signingKey) throw new TypeError(`this server does not have the signing key ${request.signingKey}`);
  const answer: CompletedAnswer = {
    execution_id: request.executionId,
    status: 'completed',
    result,
    result_hash: resultHash,
    signature: signResult(signingKey, resultHash),
  };
  if (options.programId !== undefined) {
    const message = executionMessage(options.programId, request.executionId, fingerprintOf(request), resultHash);
    answer.execution_signature = signMessage(signingKey, message);
  }
  if (output.tokensUsed !== undefined) answer.tokens_used = output.tokensUsed;
  if (output.steps !== undefined) answer.steps = output.steps;
  return answer;
}

/** The failure answer: nothing is signed, the caller is refunded and sees `error`. */
export function failedAnswer(executionId: string, error: string): FailedAnswer {
  return { execution_id: executionId, status: 'failed', result: null, result_hash: null, signature: null, error };
}

/**
 * An answer's JSON. The marketplace refuses a whole answer with a lone surrogate, such as a step that was cut within an
 * emoji. So each becomes U+FFFD.
 */
const bytesOf = (answer: CompletedAnswer | FailedAnswer): Buffer =>
  Buffer.from(JSON.stringify(answer, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value)));

/** Runs the creator's function and returns the answer's bytes. Any error becomes the failure answer. */
async function runExecution(options: CreatorOptions, request: ExecutionRequest, delta: SendDelta): Promise<Buffer> {
  const { maxAnswerBytes = 5 * MEBIBYTE, failBeforeDeadline = true, onError = logError } = options;
  const allowedMs = request.timeoutSeconds * 1000;
  const deadline = new AbortController();
  // A failure sent in time gives a refund with a reason. Reserve a tenth of the time for it, at most a second.
  const timer = setTimeout(
    () => deadline.abort(new ExecutionFailure(`not finished within the timeout of ${request.timeoutSeconds} s`)),
    allowedMs - Math.min(1000, allowedMs / 10),
  );
  try {
    const { signal } = deadline;
    const work = (async () => options.execute(request, { signal, delta }))();
    const output = await (failBeforeDeadline ? Promise.race([work, rejectOnAbort(signal)]) : work);
    const answer = bytesOf(completedAnswer(options, request, output));
    if (answer.length <= maxAnswerBytes) return answer;
    throw new ExecutionFailure(`the answer is ${answer.length} bytes, more than the ${maxAnswerBytes} allowed`);
  } catch (error) {
    if (!(error instanceof ExecutionFailure)) onError(error, request.executionId);
    const reason = error instanceof ExecutionFailure ? error.message : 'the agent failed with an internal error';
    return bytesOf(failedAnswer(request.executionId, reason));
  } finally {
    clearTimeout(timer);
  }
}

/** The request hash as hex. It depends on task and parameters, not on the timeout. */
function fingerprintOf(request: ExecutionRequest): string {
  try {
    return Buffer.from(requestHash(request.task, request.parameters)).toString('hex');
  } catch {
    throw invalid(
      'task and parameters have no canonical JSON form: they have lone surrogates or are nested too deeply',
    );
  }
}

function sendJson(response: ServerResponse, status: number, body: Buffer, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  });
  response.end(body);
}

function sendError(response: ServerResponse, error: RequestError, headers: Record<string, string> = {}): void {
  const body = { error: { code: error.code, message: error.message } };
  sendJson(response, error.status, Buffer.from(JSON.stringify(body)), headers);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function logError(error: unknown, executionId: string): void {
  console.error(`execution ${executionId} failed:`, error);
}
