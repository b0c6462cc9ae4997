/** How answers leave: JSON through its schema, so that what is sent is what was promised; text for results; errors. */
import type { ServerResponse } from 'node:http';
import type { z } from 'zod';
import { ERRORS, ErrorBody } from '../sdk/wire.ts';
import type { ApiError } from './errors.ts';

/** Sends a JSON answer. A value that does not fit its schema throws: it is a fault of ours and becomes a 500. */
export function send<Schema extends z.ZodType>(
  response: ServerResponse,
  status: number,
  schema: Schema,
  value: z.input<Schema>,
): void {
  const body = Buffer.from(JSON.stringify(schema.parse(value)));
  // Many answers are private, and all change with every execution.
  end(response, status, body, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
}

/** Sends a result: text that a stranger wrote, which no browser may take for a page. */
export function sendText(response: ServerResponse, text: Buffer): void {
  end(response, 200, text, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Security-Policy': 'sandbox',
    'Cache-Control': 'private',
  });
}

/** Sends the specification's error body with the status of its code. */
export function sendError(response: ServerResponse, error: ApiError): void {
  const { status } = ERRORS[error.code];
  if (error.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(error.retryAfterSeconds));
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  send(response, status, ErrorBody, errorBody(error));
}

export function errorBody(error: ApiError): ErrorBody {
  return { error: { code: error.code, message: error.message, execution_id: error.executionId } };
}

function end(response: ServerResponse, status: number, body: Buffer, headers: Record<string, string>): void {
  // A caller that has gone does not stop its execution, only this answer.
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'Content-Length': body.length, 'X-Content-Type-Options': 'nosniff' });
  response.end(body);
}
