/** Sends answers: JSON through its schema, so that it matches the contract; text for results; errors. */
import { createHash } from 'node:crypto';
import type { Response } from 'express';
import type { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../sdk/wire/wire.ts';
import { type ApiError, errorBody } from '../errors.ts';
import type { OpenStream } from '../events/streams.ts';
import { type Parts, renderParts } from '../json.ts';
import { type Body, lengthOf } from '../longBytes.ts';
import { beginEvents, finishOutput } from './outputStream.ts';

/** The header with the request's id, in every answer and in the log. */
export const REQUEST_ID = 'X-Request-Id';
/** Private data, data about money, and errors are never cached. */
const NO_STORE = 'no-store';
/** Retry delay of a 503, unless it has its own. */
const RETRY_SECONDS = 5;

/** The part of `response.locals` about the answer that was sent. */
export interface Answered {
  /** The code of a refusal, for the log and the figures. */
  refusal?: ErrorCode;
}

/** Sends a JSON answer. A value that does not fit its schema throws: that is our fault and becomes a 500. */
export function send<Schema extends z.ZodType>(
  response: Response,
  status: number,
  schema: Schema,
  value: z.input<Schema>,
  parts?: Parts,
): void {
  sendBytes(response, status, renderParts(schema, value, parts), 'application/json; charset=utf-8');
}

/** Sends events as they come. A HEAD request gets only the headers. A null stream becomes an empty 204. */
export function sendStream(response: Response, stream: OpenStream | null): void {
  if (response.destroyed || response.headersSent) return;
  if (!stream) {
    response.writeHead(204, { 'Cache-Control': NO_STORE, 'X-Content-Type-Options': 'nosniff' }).end();
    return;
  }
  beginEvents(response, { 'Last-Event-ID': stream.after });
  if (response.req.method === 'HEAD') response.end();
  else stream.write(response);
}

/** Sends an error with the status of its code, in the specification's body unless another is given. */
export function sendError(response: Response, error: ApiError, body: object = errorBody(error)): void {
  const { status } = ERRORS[error.code];
  (response.locals as Answered).refusal = error.code;
  if (finishOutput(response, status, [Buffer.from(JSON.stringify(body))])) return;
  response.setHeader('Cache-Control', NO_STORE);
  const seconds = error.retryAfterSeconds ?? (status === 503 ? RETRY_SECONDS : undefined);
  if (seconds !== undefined) response.setHeader('Retry-After', String(seconds));
  if (status === 401 && !response.hasHeader('WWW-Authenticate')) response.setHeader('WWW-Authenticate', 'Bearer');
  sendBytes(response, status, [Buffer.from(JSON.stringify(body))], 'application/json; charset=utf-8');
}

/** Sends the body, or a 304 if the client has this version of a cacheable answer. No browser guesses its type. */
export function sendBytes(response: Response, status: number, body: Body, contentType: string): void {
  // A caller that disconnects does not stop its execution, only this answer.
  if (response.destroyed || response.headersSent) return;
  response.setHeader('X-Content-Type-Options', 'nosniff');
  const mayBeKept = status === 200 && response.getHeader('Cache-Control') !== NO_STORE;
  if (mayBeKept) {
    const etag = response.getHeader('ETag')?.toString() ?? tagOf(body);
    response.setHeader('ETag', etag);
    if (isKnown(response.req.headers['if-none-match'], etag)) {
      response.writeHead(304);
      response.end();
      return;
    }
  }
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': lengthOf(body) });
  response.end(body.length === 1 ? body[0] : Buffer.concat(body));
}

function tagOf(body: Body): string {
  const hash = createHash('sha256');
  for (const part of body) hash.update(part);
  return `"${hash.digest('base64url').slice(0, 27)}"`;
}

/** True if If-None-Match names this version. A proxy may have made the tag weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
