/**
 * Reads the marketplace's `POST /execute` for a creator's server. It checks method, type, size, signature, and the
 * fields of the specification and headers. It refuses everything else with a reason.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { parseUuid } from '../receipt/receipt.ts';
import { type CallPurpose, PURPOSE_HEADER, SIGNING_KEY_HEADER } from './callSignature.ts';
import type { CallVerifier } from './callVerifier.ts';

/** The program's own upper bound of a listing's timeout: one day. */
const MAX_TIMEOUT_SECONDS = 86_400;

/** One paid call, as the marketplace sends it. */
export interface ExecutionRequest {
  /** Lower-case UUID, unique in the whole program. */
  executionId: string;
  task: string;
  /** The marketplace has checked it against the listing's input schema; `{}` if the caller gave none. */
  parameters: Record<string, unknown>;
  /** The caller's wallet address. Use no more than necessary; do not log or keep it. */
  userPubkey: string;
  /** Whole seconds until the execution counts as failed. */
  timeoutSeconds: number;
  /** `test`: the marketplace checks that the server answers, and nobody pays. Any well-formed answer is enough. */
  purpose: CallPurpose;
  /** The key, base58, that the answer is checked with; null if the call does not name it. */
  signingKey: string | null;
}

/** A request that is answered by an HTTP status and `{"error": {"code", "message"}}` instead of an execution. */
export class RequestError extends Error {
  override name = 'RequestError';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Reads and checks one execution request. Rejects with RequestError (400, 401, 405, 413, 415, 500, 503). */
export async function readExecutionRequest(
  request: IncomingMessage,
  maxBodyBytes: number,
  verify?: CallVerifier,
): Promise<ExecutionRequest> {
  if (request.method !== 'POST') throw methodNotAllowed('POST');
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    throw new RequestError(415, 'unsupported_media_type', 'the body must be application/json');
  }
  const parsed = (request as IncomingMessage & { body?: unknown }).body;
  const { headers } = request;
  if (!verify) return parseExecutionRequest(parsed ?? parseJson(await readBody(request, maxBodyBytes)), headers);
  if (parsed)
    throw new RequestError(
      500,
      'misconfigured',
      'the body was parsed before the call was verified; verify the call first',
    );
  const body = await readBody(request, maxBodyBytes);
  const isSigned = await verify(request, body).catch(() => {
    // 503 makes the marketplace retry until its deadline.
    throw new RequestError(503, 'keys_unavailable', "cannot read the marketplace's keys; retry later");
  });
  if (isSigned) return parseExecutionRequest(parseJson(body), headers);
  throw new RequestError(401, 'unauthorized', 'the call has no valid signature of the marketplace');
}

/**
 * Checks the fields of the specification's request and ignores unknown ones. `headers` hold the purpose and the key
 * that the call needs. Throws RequestError 400 naming a field.
 */
export function parseExecutionRequest(body: unknown, headers: IncomingHttpHeaders = {}): ExecutionRequest {
  if (!isObject(body)) throw invalid('the body must be a JSON object');
  const { execution_id, task, parameters = {}, user_pubkey, timeout_seconds } = body;
  if (typeof execution_id !== 'string' || !parseUuid(execution_id)) {
    throw invalid('execution_id must be a UUID in lower case');
  }
  if (typeof task !== 'string' || task === '') throw invalid('task must be a string of at least one character');
  if (!isObject(parameters)) throw invalid('parameters must be an object');
  if (typeof user_pubkey !== 'string' || user_pubkey === '') throw invalid('user_pubkey must be a string');
  const inRange = Number(timeout_seconds) >= 1 && Number(timeout_seconds) <= MAX_TIMEOUT_SECONDS;
  if (typeof timeout_seconds !== 'number' || !Number.isInteger(timeout_seconds) || !inRange) {
    throw invalid(`timeout_seconds must be an integer from 1 to ${MAX_TIMEOUT_SECONDS}`);
  }
  return {
    executionId: execution_id,
    task,
    parameters,
    userPubkey: user_pubkey,
    timeoutSeconds: timeout_seconds,
    purpose: headers[PURPOSE_HEADER] === 'test' ? 'test' : 'execution',
    signingKey: headers[SIGNING_KEY_HEADER]?.toString() ?? null,
  };
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      // Read and drop the rest: a client that is cut off while it sends never sees the answer.
      else chunks.length = 0;
    });
    request.on('end', () => {
      if (bytes <= maxBytes) resolve(Buffer.concat(chunks));
      else reject(new RequestError(413, 'payload_too_large', `the body must be at most ${maxBytes} bytes`));
    });
    request.on('error', reject);
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw invalid('the body must be valid JSON in UTF-8');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function invalid(message: string): RequestError {
  return new RequestError(400, 'invalid_request', message);
}

export function methodNotAllowed(allowed: string): RequestError {
  return new RequestError(405, 'method_not_allowed', `only ${allowed} is allowed for this path`);
}
