/** The client of the marketplace: its options, one typed request for every route, its retries, and the check of its answer. */
import { EVENT_STREAM } from '../wire/eventStream.ts';
import { checkedApiKey, checkedUrl, withoutSecrets } from '../wire/secrets.ts';
import { APIConnectionError, APITimeoutError, MarketplaceError } from './error.ts';
import { ROUTES, type Routes } from './generated.ts';
import { type HttpAnswer, jsonOf, requireFields, send, toQuery } from './http.ts';
import { type Patience, repeat } from './repeat.ts';
import type { StreamHandlers } from './streamed.ts';

export const VERSION = '0.1.0';

/** Receives the lines of the debug log. `console` and the loggers of pino and winston match. */
export interface Logger {
  debug(message: string): void;
}

export interface Options {
  /** Such as `https://marketplace.example`. Default: the environment variable `MARKETPLACE_URL`. */
  baseUrl?: string | undefined;
  /** Needed to run agents and to read executions. Default: the environment variable `MARKETPLACE_API_KEY`. */
  apiKey?: string | undefined;
  /**
   * Longest wait for one answer, or for the next part of a streamed answer, ms. Default: 60,000. A call that takes
   * longer is retried with its key and continues. An event stream continues on a new connection.
   */
  timeout?: number | undefined;
  /** Maximum retries of a request after lost connections and temporary errors. Default: 2. */
  maxRetries?: number | undefined;
  /** Pays for each `agents.run`, in place of an API key: `payWithX402` of @agent-marketplace/client/x402. */
  payment?: Payment | undefined;
  /** Default: the platform's `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Logs each request, answer and retry with `console.debug`, without key, body and query. */
  debug?: boolean | undefined;
  /** Receives these lines in place of `console`, also without `debug`. */
  logger?: Logger | undefined;
}

/** Pays for calls by x402. */
export interface Payment {
  /** The wallet that pays, base58. */
  payer: string;
  /** Returns the header PAYMENT-SIGNATURE for the header PAYMENT-REQUIRED. Throws if the quote is not for this call. */
  pay(required: string, call: PaidCall): Promise<string>;
}

/** The call that a payment is for. */
export interface PaidCall {
  agentId: string;
  task: string;
  parameters?: Record<string, unknown> | undefined;
  maxCostUsdc: number | string;
  timeoutSeconds?: number | undefined;
}

export interface RequestOptions {
  /** Aborts the request and its retries. The method then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The routes that `request` can read. Event streams have methods of their own. */
export type RouteName = Exclude<keyof typeof ROUTES, `stream${string}`>;
/** The parameters of a route's path and query by name, and its `body`. Bytes are sent as they are. */
export type RouteInput<Name extends RouteName> = {
  [Field in keyof Routes[Name]['input']]: Field extends 'body'
    ? Sent<Routes[Name]['input'][Field]> | Uint8Array
    : Routes[Name]['input'][Field];
};
/** The JSON of a route's answer; text if it answers with no JSON. */
export type RouteAnswer<Name extends RouteName> = Routes[Name]['answer'];
/** The arguments of a request of a route. */
export type RouteRequest<Name extends RouteName> =
  Record<never, never> extends RouteInput<Name>
    ? [input?: RouteInput<Name>, options?: RouteOptions]
    : [input: RouteInput<Name>, options?: RouteOptions];
type Sent<Body> = {
  [Field in keyof Body]: Body[Field] extends (infer Item)[] | undefined ? readonly Item[] | undefined : Body[Field];
};

export interface RouteOptions extends RequestOptions {
  /** For a paid call: prevents a second payment. 1 to 255 visible ASCII characters. Default: random. */
  idempotencyKey?: string | undefined;
  /** Limits for its retries, in place of the client's. */
  patience?: Partial<Patience> | undefined;
  /** Longest wait for its answer, ms, in place of the client's. */
  timeout?: number | undefined;
  /** More headers. */
  headers?: Record<string, string> | undefined;
  /** More statuses that are good answers. */
  accepts?: readonly number[] | undefined;
  /** Leaves the body of a good answer unread, and without a time limit. */
  keepsOpen?: boolean | undefined;
  /** Receives the output of a streamed answer. */
  onDelta?: StreamHandlers['onDelta'];
  /** Receives the id of the call's execution as soon as an answer, an error or a stream names it. */
  onExecution?: StreamHandlers['onBegun'];
}

/** A request of a route, for which `ask` gets the answer. */
export interface ApiRequest extends RouteOptions {
  route: keyof typeof ROUTES;
  input: object;
}

/** One request by its path. */
export interface PathRequest extends RouteOptions {
  method: string;
  path: string;
  /** Sent as JSON, or bytes as they are. */
  body?: unknown;
  /** A paid call: its key or its path makes it safe to retry. */
  isPaid?: boolean | undefined;
}

export type Client = ReturnType<typeof createClient>;

const JSON_TYPE = 'application/json';

/** If the service asks for a longer pause, the caller gets its error instead. */
const LONGEST_PAUSE_MS = 60_000;

/** Names the client to the service. A page cannot send this header: the service's CORS rules do not allow it. */
const { navigator } = globalThis as { navigator?: { userAgent?: string } };
const isPage = navigator?.userAgent?.startsWith('Mozilla/') ?? false;
const AGENT: Record<string, string> = isPage ? {} : { 'user-agent': `agent-marketplace-typescript/${VERSION}` };

/**
 * The client that all others are made of; it reads no environment variable. Throws TypeError for a wrong address, and for
 * a key with a character that no key has.
 */
export function createClient(options: Options & Pick<RouteOptions, 'patience'>) {
  const baseUrl = checkedUrl(options.baseUrl);
  const apiKey = checkedApiKey(options.apiKey);
  const { timeout = 60_000, maxRetries = 2 } = options;
  const fetcher: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const log = (line: string): void => (options.logger ?? (options.debug ? console : null))?.debug(line);

  async function askPath(request: PathRequest): Promise<HttpAnswer> {
    const { method, path, body, idempotencyKey, isPaid = false, signal, accepts, keepsOpen } = request;
    const { onDelta, onExecution } = request;
    const timeoutMs = request.timeout ?? timeout;
    const accept = onDelta ? `${EVENT_STREAM}, ${JSON_TYPE}` : JSON_TYPE;
    const headers: Record<string, string> = { accept, ...AGENT, ...request.headers };
    if (apiKey) headers.authorization = `Bearer ${apiKey}`;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    if (body !== undefined) headers['content-type'] = JSON_TYPE;
    const sent = body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body);
    const name = `${method} ${path.split('?')[0]}`;

    async function once(): Promise<HttpAnswer> {
      const start = performance.now();
      const took = () => `${Math.round(performance.now() - start)} ms`;
      try {
        const answer = await send(fetcher, {
          method,
          baseUrl,
          path,
          headers,
          body: sent,
          timeoutMs,
          signal,
          accepts,
          keepsOpen,
          onDelta,
          onBegun: onExecution,
        });
        log(`${name}: ${answer.response.status} in ${took()}`);
        return answer;
      } catch (error) {
        log(`${name}: ${describe(error)} in ${took()}`);
        if (error instanceof MarketplaceError && error.executionId !== null) onExecution?.(error.executionId);
        throw signal?.aborted ? error : toKnown(error, baseUrl, timeoutMs);
      }
    }

    const onRepeat = (_: unknown, pauseMs: number) => log(`${name}: retry in ${Math.round(pauseMs)} ms`);
    const patience = {
      repeats: maxRetries,
      pauseMs: LONGEST_PAUSE_MS,
      isPaid,
      onRepeat,
      ...options.patience,
      ...request.patience,
    };
    return method === 'GET' || isPaid ? repeat(once, patience, signal) : once();
  }

  const ask = ({ route, input, ...more }: ApiRequest): Promise<HttpAnswer> => {
    const { method, path, isPaid, accepts }: Route = ROUTES[route];
    return askPath({ accepts, ...more, ...fill(path, input), method, isPaid });
  };

  return {
    baseUrl,
    fetch: fetcher,
    timeout,
    payment: options.payment,
    ask,
    askPath,

    /** The answer of a route. Throws UnexpectedAnswerError if it is not the route's. */
    async request<Name extends RouteName>(
      route: Name,
      ...[input = {} as RouteInput<Name>, options = {}]: RouteRequest<Name>
    ): Promise<RouteAnswer<Name>> {
      const { takesKey }: Route = ROUTES[route];
      const request = { ...options, route, input };
      if (takesKey) request.idempotencyKey ??= crypto.randomUUID();
      return withKey(request, async () => readAs(route, await ask(request)));
    },
  };
}

interface Route {
  method: string;
  path: string;
  fields?: readonly string[];
  accepts?: readonly number[];
  isPaid?: boolean;
  takesKey?: boolean;
}

/** The path and the query with the input's values, and the body. */
function fill(path: string, input: object): { path: string; body: unknown } {
  const { body, ...query } = input as Record<string, unknown>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(query[name]));
    delete query[name];
    return value;
  });
  return { path: filled + toQuery(query), body };
}

/** The answer's JSON, if it has the route's first fields. */
export function readAs<Name extends RouteName>(name: Name, answer: HttpAnswer): RouteAnswer<Name> {
  const { fields }: Route = ROUTES[name];
  const value = fields === undefined ? answer.text : requireFields(answer, name, jsonOf(answer), fields);
  return value as RouteAnswer<Name>;
}

/** Adds the call's idempotency key to every error of `call`, so that a retry never pays twice. */
export async function withKey<T>({ idempotencyKey }: RouteOptions, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof MarketplaceError) error.idempotencyKey = idempotencyKey ?? null;
    throw error;
  }
}

function describe(error: unknown): string {
  return error instanceof MarketplaceError ? `${error.status} ${error.code}` : String((error as Error | null)?.name);
}

/** Turns an error of `fetch` into an error of this client. */
function toKnown(error: unknown, baseUrl: string, timeout: number): unknown {
  const name = (error as Error | null)?.name;
  if (name === 'TimeoutError') {
    const message = `No answer from ${baseUrl} within ${timeout} ms.`;
    return new APITimeoutError(null, 'timeout', message, null, null, null, null, { cause: error });
  }
  if (!(error instanceof TypeError)) return error;
  const told = reasonOf(error);
  const message = `No answer from ${baseUrl}: ${withoutSecrets(told)}`;
  // Node prints causes too.
  const options = withoutSecrets(told) === told ? { cause: error } : {};
  return new APIConnectionError(null, 'connection_failed', message, null, null, null, null, options);
}

/** The messages of an error and its causes. Only a cause of `fetch` says if a name, a connection or TLS failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code = '', reason, errors, cause } = error as Failure;
  // OpenSSL has a short reason. If several addresses of a name fail, each has its error.
  const text = reason ?? (message || reasonOf(errors?.[0] ?? code));
  const own = text.includes(code) ? text : `${text} (${code})`;
  const why = cause == null ? own : reasonOf(cause);
  return why === own ? own : `${own}: ${why}`;
}

interface Failure extends Error {
  code?: string;
  reason?: string;
  errors?: unknown[];
}
