/** Reads the body of a request, with a limit on its size. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';
import { readQuery } from '../parse.ts';

/** A client that keeps sending after its 413 is disconnected here. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/**
 * The raw body, whose headers must declare JSON; the bytes are parsed later. With `mayBeEmpty`, an empty body needs no
 * declaration. Throws ApiError 413 or 415, in this order. Rejects with another error if the connection breaks.
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number, mayBeEmpty = false): Promise<Buffer> {
  const body = await readBody(request, maxBytes);
  if (mayBeEmpty && body.length === 0) return body;
  const { 'content-type': contentType, 'content-encoding': encoding } = request.headers;
  if (!isJson(contentType)) {
    throw unsupported('The body is not declared as JSON in UTF-8. Send the header Content-Type: application/json.');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('The body is compressed. Send it without a Content-Encoding.');
  }
  return body;
}

/** The fields of a form. Throws ApiError 413, 415, or 400 for a field that is given twice. */
export async function readForm(request: IncomingMessage, maxBytes: number): Promise<Record<string, string>> {
  const body = await readBody(request, maxBytes);
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

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const details = { max_bytes: maxBytes };
    const tooLarge = () =>
      reject(new ApiError('payload_too_large', `The body must be at most ${maxBytes} bytes`, { details }));
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) tooLarge();
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        tooLarge();
        // The rest is read and dropped: a client that is disconnected while it sends never sees the answer.
        if (bytes > MAX_DRAINED_BYTES) request.destroy();
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the connection closed before the whole body arrived')));
  });
}
