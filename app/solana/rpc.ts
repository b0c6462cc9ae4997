/**
 * JSON-RPC over HTTP for the relay and the indexer. Every call has a timeout, and all calls end when their owner
 * closes. Each sender fits its kind of calls. calls.ts and web3.js define the requests.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type FetchFn } from '@solana/web3.js';
import { Agent, request } from 'undici';
import { listOf } from './nodes.ts';

/** The part of a response that JSON-RPC needs. Its text is already received. */
interface RpcResponse {
  ok: boolean;
  status: number;
  statusText: string;
  /** The headers of these names. */
  retryAfter?: string | null;
  date?: string | null;
  text(): Promise<string>;
}

interface RpcInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export type RpcFetch = (url: string, init?: RpcInit) => Promise<RpcResponse>;

/**
 * For many small calls: after this timeout the node is asked again. The longest answers take a second. All attempts take
 * 10 s, because a transaction is valid for 30 s.
 */
const PATIENT_TIMEOUT_MS = 3_000;
const ATTEMPTS = 3;
const PAUSE_MS = 100;
/** Statuses of a node, or of its load balancer, that mean "not now". */
const RETRIED_STATUSES = new Set([429, 500, 502, 503, 504]);
/** Connections to one node; further calls wait. */
const MAX_CONNECTIONS = 256;
/** For a few large calls: a backfill's largest answer is a few hundred kB. */
const LARGE_TIMEOUT_MS = 15_000;

/**
 * Sends over connections that stay open. The platform's `fetch` would work, but costs several times as much for streams
 * and copies.
 */
export function createRpcFetch(): RpcFetch {
  const dispatcher = new Agent({ connections: MAX_CONNECTIONS, keepAliveTimeout: 10_000 });
  return async (url, { method = 'POST', headers = {}, body, signal } = {}) => {
    const answer = await request(url, { dispatcher, method: method as 'POST', headers, body, signal });
    const text = await answer.body.text();
    const { statusCode: status, statusText } = answer;
    const { date } = answer.headers;
    const ok = status >= 200 && status < 300;
    return { ok, status, statusText, date: typeof date === 'string' ? date : null, text: async () => text };
  };
}

/** Sends with the platform's `fetch`, which asks for compressed answers: worth it for large ones. */
const sendForLarge: RpcFetch = async (url, init) => {
  const answer = await fetch(url, { ...init, redirect: 'manual' });
  const text = await answer.text();
  const { ok, status, statusText, headers } = answer;
  return { ok, status, statusText, retryAfter: headers.get('retry-after'), text: async () => text };
};

/** Settings with the URL of the relay's and indexer's node. */
const OUR_SETTINGS = 'Set SOLANA_RPC_URL, or HELIUS_URL with HELIUS_API_KEY, to its address';

/** A node did not answer. The message names only the host, because path, query and user name may contain keys. */
class NodeAway extends Error {
  constructor(url: string, error: unknown, settings: string) {
    const { cause = error } = error as { cause?: unknown };
    const { message, code } = cause as { message?: string; code?: string };
    const { protocol, host } = new URL(url);
    const name = `${protocol}//${host}`;
    const reason = (message || code || String(cause)).replaceAll(url, name);
    super(`the node at ${name} does not answer: ${reason}. ${settings}`, { cause });
  }
}

/**
 * Aborts a call at its timeout, or when `closing` aborts, with the reason of either. Redirects are refused: nobody has
 * chosen the node that they name, and it would decide about money.
 */
function endInTime(send: RpcFetch, timeoutMs: number, closing: AbortSignal, settings = OUR_SETTINGS): RpcFetch {
  // Every call in progress listens to it.
  setMaxListeners(0, closing);
  return async (url, init) => {
    closing.throwIfAborted();
    const giveUp = new AbortController();
    const close = () => giveUp.abort(closing.reason);
    const silence = () => giveUp.abort(new DOMException(`no answer in ${timeoutMs} ms`, 'TimeoutError'));
    const timer = setTimeout(silence, timeoutMs);
    closing.addEventListener('abort', close, { once: true });
    try {
      const answer = await send(url, { ...init, signal: giveUp.signal });
      if (answer.status >= 300 && answer.status < 400) throw new Error(`it redirects (${answer.status})`);
      return answer;
    } catch (error) {
      throw closing.aborted ? error : new NodeAway(url, error, settings);
    } finally {
      clearTimeout(timer);
      closing.removeEventListener('abort', close);
    }
  };
}

/**
 * A fetch with a timeout that retries a busy or unreachable node, up to `attempts` attempts. Sending the same bytes
 * twice is harmless.
 */
export function createPatientFetch(closing: AbortSignal, send: RpcFetch, attempts = ATTEMPTS): FetchFn {
  const sendInTime = endInTime(send, PATIENT_TIMEOUT_MS, closing);
  return async (url, init) => {
    const { method, headers, body } = init as { method: string; headers: Record<string, string>; body: string };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await sendInTime(String(url), { method, headers, body });
        if (attempt === attempts || !RETRIED_STATUSES.has(response.status)) return response as never;
      } catch (error) {
        if (attempt === attempts || closing.aborted) throw error;
      }
      await sleep(PAUSE_MS * attempt ** 2, undefined, { signal: closing });
    }
  };
}

/** The node is busy or limits our calls. Retry after the given time. */
export class NotNow extends Error {
  readonly retryAfterMs: number;

  constructor(status: number, retryAfterMs: number) {
    super(`the node answered ${status}; retrying in ${retryAfterMs} ms`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Upper bound of a node's Retry-After, for reads and for a command that sends: its transaction is valid for 30 s. */
const MOST_WAIT_MS = 60_000;
const MOST_WAIT_TO_SEND_MS = 10_000;
/** Refused calls are retried one by one: a group of many would never succeed as a whole. */
const REFUSED_ATTEMPTS = 8;
/** About six seconds of pauses in total: enough for a broken connection, and short enough if the address is wrong. */
const UNANSWERED_ATTEMPTS = 6;

/** The pause from `Retry-After`, in seconds or as a date; without it, longer each time. */
function waitOf(header: string | null, attempt: number, mostMs: number): number {
  const seconds = header === null ? Number.NaN : Number(header);
  const date = header === null ? Number.NaN : Date.parse(header) - Date.now();
  const asked = Number.isNaN(seconds) ? date : seconds * 1_000;
  return Math.min(mostMs, Math.max(0, Number.isNaN(asked) ? PAUSE_MS * 2 ** attempt : asked));
}

/** Retries, after the node's pause, if it answers "not now". Throws NotNow after too many attempts. */
function waitWhenRefused(send: RpcFetch, closing: AbortSignal, mostMs = MOST_WAIT_MS): RpcFetch {
  return async (url, init) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await send(url, init);
      if (answer.status !== 429 && answer.status !== 503) return answer;
      const waitMs = waitOf(answer.retryAfter ?? null, attempt, mostMs);
      if (attempt === REFUSED_ATTEMPTS) throw new NotNow(answer.status, waitMs);
      await sleep(waitMs, undefined, { signal: closing });
    }
  };
}

/** Retries if no answer came, with longer pauses each time: the connection broke, or the node was silent. */
function repeatUnanswered(send: RpcFetch, closing: AbortSignal): RpcFetch {
  return async (url, init) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(url, init);
      } catch (error) {
        if (attempt === UNANSWERED_ATTEMPTS || !(error instanceof NodeAway)) throw error;
      }
      await sleep(PAUSE_MS * 2 ** attempt, undefined, { signal: closing });
    }
  };
}

/**
 * A connection for many reads at `finalized`, which waits when a node asks for it. Its owner retries other failures.
 * With several URLs, separated by commas, it switches to the next one after a failure.
 */
export function connectForReading(rpcUrls: string, closing: AbortSignal, timeoutMs = LARGE_TIMEOUT_MS): Connection {
  const sendInTime = endInTime(sendForLarge, timeoutMs, closing);
  const urls = listOf(rpcUrls);
  let present = 0;
  const sendToAny: RpcFetch = async (_url, init) => {
    for (let left = urls.length - 1; ; left -= 1) {
      const asked = present;
      try {
        const response = await sendInTime(urls[asked]!, init);
        if (left === 0 || !RETRIED_STATUSES.has(response.status)) return response;
      } catch (error) {
        if (left === 0 || closing.aborted) throw error;
      }
      // Calls that fail together switch to the next node only once.
      if (present === asked) present = (asked + 1) % urls.length;
    }
  };
  return connect(urls[0]!, waitWhenRefused(sendToAny, closing));
}

/**
 * A connection for a command, which also retries calls without an answer, because its user would have to start again.
 * Reads and signed transactions are safe to repeat. The owner must expect that a repeated transaction has already been
 * processed. `setting` is the variable that names the node.
 */
export function connectForCommand(rpcUrl: string, setting: string): Connection {
  const never = new AbortController().signal;
  const sendInTime = endInTime(sendForLarge, LARGE_TIMEOUT_MS, never, `Set ${setting} to its address`);
  return connect(rpcUrl, waitWhenRefused(repeatUnanswered(sendInTime, never), never, MOST_WAIT_TO_SEND_MS));
}

function connect(rpcUrl: string, send: RpcFetch): Connection {
  return new Connection(rpcUrl, {
    commitment: 'finalized',
    disableRetryOnRateLimit: true,
    fetch: (url, init) => send(String(url), init as RpcInit) as never,
  });
}
