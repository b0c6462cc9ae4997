/** The HTTP core of both REST clients: one request, its time limit, and what its answer means. */
import { isEventStream } from '../wire/eventStream.ts';
import { isRedirect } from '../wire/redirects.ts';
import { type MarketplaceError, statusError, UnexpectedAnswerError } from './error.ts';
import { anyOf, startTimer } from './limit.ts';
import { connected } from './repeat.ts';
import { readStreamed, type StreamHandlers } from './streamed.ts';

/** One request; `repeat` repeats it. */
export interface HttpRequest extends StreamHandlers {
  method: string;
  /** Without a trailing slash. */
  baseUrl: string;
  path: string;
  headers: Record<string, string>;
  body?: RequestInit['body'];
  /** Longest wait for the whole answer, or for the next part of a streamed one, ms; null for no limit. */
  timeoutMs: number | null;
  signal?: AbortSignal | undefined;
  /** Statuses that are good answers too. */
  accepts?: readonly number[] | undefined;
  /** Leaves the body of a good answer unread, and without a time limit. */
  keepsOpen?: boolean | undefined;
}

/** A good answer with its body. */
export interface HttpAnswer {
  response: Response;
  text: string;
}

/**
 * Sends a request once. Throws MarketplaceError for an error answer, TypeError without an answer, a DOMException named
 * TimeoutError at the time limit, and the signal's reason.
 */
export async function send(fetcher: typeof fetch, request: HttpRequest): Promise<HttpAnswer> {
  const { method, baseUrl, path, headers, body, timeoutMs, signal, accepts, keepsOpen, onDelta, onBegun } = request;
  const limit = startLimit(timeoutMs, signal);
  try {
    const init = { method, headers: checkedHeaders(headers), body: body ?? null, signal: limit.signal };
    const response = await fetchDirect(fetcher, baseUrl, path, init);
    if (onDelta && response.ok && isEventStream(response.headers.get('content-type'))) {
      const { isError, text } = await readStreamed(response, { onDelta, onBegun }, limit.restart);
      if (isError) throw toError(response, parseJson(text));
      return { response, text };
    }
    const text = keepsOpen && response.ok ? '' : await connected(response.text());
    if (response.ok || accepts?.includes(response.status)) return { response, text };
    throw toError(response, parseJson(text));
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    limit.clear();
  }
}

/**
 * Fetches without following a redirect: a POST would become a GET, and another origin would not get the key. Throws
 * UnexpectedAnswerError for a redirect, with the right address where it is known, and TypeError without an answer.
 */
export async function fetchDirect(
  fetcher: typeof fetch,
  baseUrl: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const response = await connected(fetcher(baseUrl + path, { ...init, redirect: 'manual' }));
  // A browser hides the redirect's status and address.
  if (response.type !== 'opaqueredirect' && !isRedirect(response.status)) return response;
  await response.body?.cancel();
  throw unknownAnswer(response, describeRedirect(response, baseUrl, path));
}

function describeRedirect(response: Response, baseUrl: string, path: string): string {
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, baseUrl + path)) {
    return 'a redirect, which is not followed. Use the address that it leads to as base URL.';
  }
  const { origin, pathname } = new URL(location, baseUrl + path);
  const target = origin + pathname;
  const [route = ''] = path.split('?');
  const advice = target.endsWith(route) ? ` Use the base URL ${target.slice(0, -route.length)}.` : '';
  return `a redirect to ${target}, which is not followed.${advice}`;
}

/** The headers. Throws RangeError for a value that HTTP cannot send: `fetch` would quote it, and call it a failure. */
export function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\t -~\x80-\xff]*$/.test(value)) throw new RangeError(`${name} has a character that HTTP cannot send.`);
  }
  return headers;
}

/** Aborts by the caller's signal, or `ms` after the start or the last `restart`. */
function startLimit(ms: number | null, signal: AbortSignal | undefined) {
  const own = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const clear = (): void => clearTimeout(timer);
  function restart(): void {
    clear();
    timer = startTimer(ms, () => own.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError')));
  }
  restart();
  return { signal: anyOf(signal, own.signal), restart, clear };
}

/** The JSON of a good answer. Throws UnexpectedAnswerError if it is none. */
export function jsonOf({ response, text }: HttpAnswer): unknown {
  const value = parseJson(text);
  if (value === undefined) throw unknownAnswer(response);
  return value;
}

/** The value, if it has these fields. Fields of a newer marketplace are kept. Throws UnexpectedAnswerError if not. */
export function requireFields(answer: HttpAnswer, name: string, value: unknown, fields: readonly string[]): unknown {
  const missing = fields.find((field) => typeof value !== 'object' || value === null || !(field in value));
  if (missing === undefined) return value;
  throw unknownAnswer(answer.response, `no answer of ${name}: ${missing} is missing`);
}

/** The JSON of a text; undefined if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds of `Retry-After`; null if the header is missing or not a number. */
export function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

/** An answer that is not the marketplace's, such as one from a load balancer. `what` says why. */
export function unknownAnswer(response: Response, what?: string): UnexpectedAnswerError {
  const { url, status, ok } = response;
  const why = what ?? (ok ? 'no JSON. Is it the address of a marketplace?' : 'an unknown error');
  const requestId = response.headers.get('x-request-id');
  const message = `${url} answered with status ${status} and ${why}`;
  return new UnexpectedAnswerError(status, 'unexpected_answer', message, null, requestId, null, retryAfterOf(response));
}

/** The error that an answer's body describes. */
export function toError(response: Response, body: unknown): MarketplaceError {
  const { error } = (body ?? {}) as { error?: Record<string, unknown> };
  // A procedure has its facts in `data`.
  const { code, message, execution_id, details } = {
    ...error,
    ...(error?.data as Record<string, unknown> | undefined),
  };
  if (typeof code !== 'string' || typeof message !== 'string') return unknownAnswer(response);
  return statusError(
    // In a stream, the error comes after the status.
    response.ok ? null : response.status,
    code,
    message,
    typeof execution_id === 'string' ? execution_id : null,
    response.headers.get('x-request-id'),
    typeof details === 'object' ? (details as Record<string, unknown> | null) : null,
    retryAfterOf(response),
  );
}

/** The filters as a query with its question mark; empty without any. Lists are joined by commas. */
export function toQuery(filters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    const isNone = value == null || (Array.isArray(value) && value.length === 0);
    if (!isNone) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
