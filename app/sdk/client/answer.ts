/** Reads answers by their schemas, and turns error answers into a MarketplaceError. */
import * as z from 'zod';
import { ERRORS, ErrorBody, type ErrorCode } from '../wire/wire.ts';
import { MarketplaceError } from './error.ts';

export { MarketplaceError };

/** The body of an error, including errors that this client does not know yet. */
const ErrorAnswer = z.object({ error: z.object({ ...ErrorBody.shape.error.shape, code: z.string() }) });

/**
 * Returns the answer without fields unknown to its schema. Throws ZodError if a field is missing or has another type.
 */
export function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const { error, data } = schema.safeParse(answer);
  if (!error) return data as T;
  const known = structuredClone(answer);
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') throw error;
    // biome-ignore lint/suspicious/noExplicitAny: the path leads to an object, or there would be another issue
    const object = issue.path.reduce((value: any, key) => value[key], known);
    for (const key of issue.keys) delete object[key];
  }
  return schema.parse(known);
}

/** Seconds of `Retry-After`; null if the header is missing or not a number. */
export function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

/**
 * The JSON of an answer. A connection that breaks throws TypeError. An answer that is not JSON is not the
 * marketplace's.
 */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw unknownAnswer(response);
  }
}

/** An answer that is not the marketplace's, such as one from a load balancer. */
export function unknownAnswer(response: Response): MarketplaceError {
  const { url, status, ok } = response;
  const message = ok
    ? `${url} answered with status ${status} and no JSON. Is it the address of a marketplace?`
    : `${url} answered with status ${status} and an unknown error`;
  const requestId = response.headers.get('x-request-id');
  return new MarketplaceError(status, 'unknown', message, null, requestId, null, retryAfterOf(response));
}

/** The error that an answer's body describes. */
export function toError(response: Response, body: unknown): MarketplaceError {
  const parsed = ErrorAnswer.safeParse(body);
  if (!parsed.success) return unknownAnswer(response);
  const { code, message, execution_id, details } = parsed.data.error;
  const requestId = response.headers.get('x-request-id');
  // In a stream, the error comes after the status.
  const status = response.ok && isErrorCode(code) ? ERRORS[code].status : response.status;
  return new MarketplaceError(status, code, message, execution_id, requestId, details, retryAfterOf(response));
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
