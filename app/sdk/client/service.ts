/** Shared by all methods of AgentMarketplace: its options, the retries of a request, and the check of its answer. */
import { EVENT_STREAM } from '../wire/eventStream.ts';
import { checkedApiKey, checkedUrl, withoutSecrets } from '../wire/secrets.ts';
import { APIConnectionError, APITimeoutError, MarketplaceError } from './error.ts';
import { FIELDS } from './generated.ts';
import { type HttpAnswer, jsonOf, send, unknownAnswer } from './http.ts';
import { repeat } from './repeat.ts';
import type { OnDelta } from './streamed.ts';

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

/** One request of the API. */
export interface ApiRequest extends RequestOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Makes a POST safe to retry. */
  idempotencyKey?: string | undefined;
  /** A paid call: its key or its path makes it safe to retry. */
  isPaid?: boolean;
  /** More headers. */
  headers?: Record<string, string> | undefined;
  /** More statuses that are good answers. */
  accepts?: readonly number[] | undefined;
  /** Leaves the body of a good answer unread, and without a time limit. */
  keepsOpen?: boolean | undefined;
  /** Receives the output of a streamed answer. */
  onDelta?: OnDelta | undefined;
  /** Receives the id of the call's execution as soon as an answer, an error or a stream names it. */
  onExecution?: ((executionId: string) => void) | undefined;
}

export type Service = ReturnType<typeof createService>;

const JSON_TYPE = 'application/json';

/** If the service asks for a longer pause, the caller gets its error instead. */
const LONGEST_PAUSE_MS = 60_000;

/** Names the client to the service. A page cannot send this header: the service's CORS rules do not allow it. */
const { navigator } = globalThis as { navigator?: { userAgent?: string } };
const isPage = navigator?.userAgent?.startsWith('Mozilla/') ?? false;
const AGENT: Record<string, string> = isPage ? {} : { 'user-agent': `agent-marketplace-typescript/${VERSION}` };

export function createService(options: Options) {
  const environment = globalThis.process?.env ?? {};
  const baseUrl = checkedUrl(options.baseUrl ?? environment.MARKETPLACE_URL);
  const apiKey = checkedApiKey(options.apiKey ?? environment.MARKETPLACE_API_KEY);
  const { timeout = 60_000, maxRetries = 2 } = options;
  const fetcher: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const log = (line: string): void => (options.logger ?? (options.debug ? console : null))?.debug(line);

  async function ask(request: ApiRequest): Promise<HttpAnswer> {
    const { method, path, body, idempotencyKey, isPaid = false, signal, accepts, keepsOpen } = request;
    const { onDelta, onExecution } = request;
    const accept = onDelta ? `${EVENT_STREAM}, ${JSON_TYPE}` : JSON_TYPE;
    const headers: Record<string, string> = { accept, ...AGENT, ...request.headers };
    if (apiKey) headers.authorization = `Bearer ${apiKey}`;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    if (body !== undefined) headers['content-type'] = JSON_TYPE;
    const text = body === undefined ? null : JSON.stringify(body);
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
          body: text,
          timeoutMs: timeout,
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
        throw signal?.aborted ? error : toKnown(error, baseUrl, timeout);
      }
    }

    const onRepeat = (_: unknown, pauseMs: number) => log(`${name}: retry in ${Math.round(pauseMs)} ms`);
    const patience = { repeats: maxRetries, pauseMs: LONGEST_PAUSE_MS, isPaid, onRepeat };
    return method === 'GET' || isPaid ? repeat(once, patience, signal) : once();
  }

  return {
    baseUrl,
    fetch: fetcher,
    timeout,
    payment: options.payment,

    ask,

    /** The JSON of an answer. Throws UnexpectedAnswerError if it does not match the schema. */
    async read<T>(name: keyof typeof FIELDS, request: ApiRequest): Promise<T> {
      return readAs<T>(name, await ask(request));
    },
  };
}

/** The answer's JSON, if it has the schema's first fields. Fields of a newer marketplace are kept. */
export function readAs<T>(name: keyof typeof FIELDS, answer: HttpAnswer): T {
  const value = jsonOf(answer) as object | null;
  const missing = FIELDS[name].find((field) => typeof value !== 'object' || value === null || !(field in value));
  if (missing !== undefined) throw unknownAnswer(answer.response, `no valid ${name}: ${missing} is missing`);
  return value as T;
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
  const message = `No answer from ${baseUrl}: ${withoutSecrets(error.message)}`;
  // Node prints causes too.
  const told = `${error.message} ${error.cause}`;
  const options = withoutSecrets(told) === told ? { cause: error } : {};
  return new APIConnectionError(null, 'connection_failed', message, null, null, null, null, options);
}
