/** How answers leave: JSON through its schema, so that what is sent is what was promised; text for results; errors. */
import { createHash } from 'node:crypto';
import type { Response } from 'express';
import type { z } from 'zod';
import { ERRORS } from '../../sdk/wire/wire.ts';
import { type ApiError, errorBody } from '../errors.ts';
import { type Parts, renderParts } from '../json.ts';
import { type Body, inOwnTurn, lengthOf, PIECE_BYTES, piecesOf } from '../longBytes.ts';

/** The header that names the request, in every answer and in the log. */
export const REQUEST_ID = 'X-Request-Id';
/** What is private or about money is kept nowhere, and no error is. */
const NO_STORE = 'no-store';
/** When a 503 is worth another try, unless it says otherwise. */
const RETRY_SECONDS = 5;

/** What `response.locals` carries. */
export interface AnswerLimits {
  /** A client that takes nothing of its answer for so long is cut off. */
  takeMs: number;
}

/** Sends a JSON answer. A value that does not fit its schema throws: it is a fault of ours and becomes a 500. */
export function send<Schema extends z.ZodType>(
  response: Response,
  status: number,
  schema: Schema,
  value: z.input<Schema>,
  parts?: Parts,
): void {
  end(response, status, renderParts(schema, value, parts), 'application/json; charset=utf-8');
}

/** Sends bytes as they are, such as a result: text that a stranger wrote, which no browser may take for a page. */
export function sendBytes(response: Response, status: number, body: Body, contentType: string): void {
  end(response, status, body, contentType);
}

/** Sends an error with the status of its code, in the specification's body unless told another. */
export function sendError(response: Response, error: ApiError, body: object = errorBody(error)): void {
  const { status } = ERRORS[error.code];
  response.setHeader('Cache-Control', NO_STORE);
  const seconds = error.retryAfterSeconds ?? (status === 503 ? RETRY_SECONDS : undefined);
  if (seconds !== undefined) response.setHeader('Retry-After', String(seconds));
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  sendBytes(response, status, [Buffer.from(JSON.stringify(body))], 'application/json; charset=utf-8');
}

/** Sends the body; of what may be kept, only the news. */
function end(response: Response, status: number, body: Body, contentType: string): void {
  // A caller that has gone does not stop its execution, only this answer.
  if (response.destroyed || response.headersSent) return;
  const { takeMs } = response.locals as AnswerLimits;
  response.setTimeout(takeMs, () => response.destroy());
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
  const length = lengthOf(body);
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': length });
  if (length > PIECE_BYTES) void sendLong(response, body);
  else response.end(together(body));
}

/** Hands the connection one piece after the other, each when it has taken the one before. */
async function sendLong(response: Response, body: Body): Promise<void> {
  const gone = new Promise<void>((resolve) => void response.once('close', resolve));
  for (const piece of piecesOf(body)) {
    await inOwnTurn(() => undefined);
    // What is written to a connection that has gone is an error that nobody hears.
    if (response.destroyed) return;
    const taken = new Promise<void>((resolve) => void response.write(together(piece), () => resolve()));
    await Promise.race([taken, gone]);
  }
  response.end();
}

const together = (body: Body): Uint8Array => (body.length === 1 ? body[0]! : Buffer.concat(body));

function tagOf(body: Body): string {
  const hash = createHash('sha256');
  for (const part of body) hash.update(part);
  return `"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Whether If-None-Match names this version; a proxy may have made the tag weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
