/** Reads the body of a request, with a limit on its size. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';
import { readQuery } from '../parse.ts';
import type { Ask } from '../workers.ts';
import { enterRoom } from './bodyRoom.ts';

/** A client that keeps sending after its 413 is disconnected here. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
/** Bodies up to this size are kept without a limit on their number. */
const SMALL_BYTES = 8 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/**
 * The raw body, whose headers must declare JSON; the bytes are parsed later. With `mayBeEmpty`, an empty body needs no
 * declaration. `ask` says whose body it is. Throws ApiError 413, 503 if too many long bodies arrive, or 415. Rejects with
 * another error if the connection breaks.
 */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
  ask: Ask,
  mayBeEmpty = false,
): Promise<Buffer> {
  const body = await readBody(request, maxBytes, ask);
  if (body.length > 0 || !mayBeEmpty) requireJson(request);
  return body;
}

/** Throws the ApiError of `readJsonBody` that the headers show. Call it before the body's sender is looked up. */
export function requireDeclared(request: IncomingMessage, maxBytes: number, mayBeEmpty = false): void {
  if (declaredBytes(request) > maxBytes) {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) request.destroy();
    });
    throw tooLarge(maxBytes);
  }
  if (!mayBeEmpty) requireJson(request);
}

const declaredBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0);

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError('payload_too_large', `The body must be at most ${maxBytes} bytes`, { details: { max_bytes: maxBytes } });

function requireJson({ headers }: IncomingMessage): void {
  const { 'content-type': contentType, 'content-encoding': encoding } = headers;
  if (!isJson(contentType)) {
    throw unsupported('The body is not declared as JSON in UTF-8. Send the header Content-Type: application/json.');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('The body is compressed. Send it without a Content-Encoding.');
  }
}

/** The fields of a form. Throws like `readJsonBody`, and ApiError 400 for a field that is given twice. */
export async function readForm(request: IncomingMessage, maxBytes: number, ask: Ask): Promise<Record<string, string>> {
  const body = await readBody(request, maxBytes, ask);
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw unsupported('The body is not declared as a form. Send it as application/x-www-form-urlencoded.', FORM);
  }
  return readQuery(`?${body.toString('utf8')}`);
}

/** Throws ApiError 405 for every method but these. */
export function requireMethod(
  request: IncomingMessage,
  response: ServerResponse,
  allowed: string[],
  what = 'path',
): void {
  const { method = '' } = request;
  if (allowed.includes(method)) return;
  const list = allowed.join(', ');
  response.setHeader('Allow', list);
  const details = { allowed };
  throw new ApiError('method_not_allowed', `${method} is not allowed for this ${what}. Use ${list}.`, { details });
}

function unsupported(message: string, contentType = 'application/json'): ApiError {
  return new ApiError('unsupported_media_type', message, {
    details: { content_type: contentType, content_encoding: 'identity' },
  });
}

/** Parameters have no meaning for JSON, but a named charset must be the one that JSON has. */
function isJson(contentType = ''): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charsets = parameters.flatMap((one) => /^\s*charset\s*=\s*(.*?)\s*$/.exec(one)?.[1] ?? []);
  return type.trim() === 'application/json' && charsets.every((one) => /^(["']?)(utf-?8|us-ascii)\1$/.test(one));
}

async function readBody(request: IncomingMessage, maxBytes: number, ask: Ask): Promise<Buffer> {
  const declared = declaredBytes(request);
  const mayBeLong = request.headers['transfer-encoding'] !== undefined || declared > SMALL_BYTES;
  const asker = mayBeLong && declared <= maxBytes ? await ask() : null;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isKept = true;
    const drop = (error: Error) => {
      isKept = false;
      chunks.length = 0;
      place?.leave();
      reject(error);
    };
    const place = asker && enterRoom(asker, drop);
    const broken = () => drop(new Error('the connection closed before the whole body arrived'));
    if (declared > maxBytes) drop(tooLarge(maxBytes));
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (isKept && bytes > maxBytes) drop(tooLarge(maxBytes));
      if (isKept) {
        chunks.push(chunk);
        place?.add(chunk.length);
      }
      // The rest is read and dropped: a client that is disconnected while it sends never sees the answer.
      else if (bytes > MAX_DRAINED_BYTES) request.destroy();
    });
    request.on('end', () => {
      place?.leave();
      resolve(Buffer.concat(chunks));
    });
    request.on('error', drop);
    request.on('close', broken);
    // It may have closed while its sender was looked up.
    if (request.destroyed) broken();
  });
}
