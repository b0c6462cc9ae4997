/**
 * JSON-RPC to a node over HTTP, for the relay and the indexer: no call hangs, and all end when their owner closes. Each
 * sends in the way that its calls need. What a call asks for is said in calls.ts, or by web3.js.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type FetchFn } from '@solana/web3.js';
import { Agent, request } from 'undici';
import { listOf } from './nodes.ts';

/** As much of a response as JSON-RPC needs; its text is here when it is. */
export interface RpcResponse {
  ok: boolean;
  status: number;
  statusText: string;
  /** The header of that name. */
  retryAfter?: string | null;
  text(): Promise<string>;
}

export interface RpcInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export type RpcFetch = (url: string, init?: RpcInit) => Promise<RpcResponse>;

/** Many small calls: a node that has not answered by then is asked again; the longest answers take a second. */
const PATIENT_TIMEOUT_MS = 4_000;
const ATTEMPTS = 3;
const PAUSE_MS = 100;
/** Answers of a node, or of the balancer before it, that say "not now". */
const RETRIED_STATUSES = new Set([429, 500, 502, 503, 504]);
/** Connections to one node: beyond so many, calls wait for one another. */
const MAX_CONNECTIONS = 256;
/** A few large calls: a backfill's largest answer is a few hundred kB. */
const LARGE_TIMEOUT_MS = 15_000;

/**
 * Sends over connections that stay open. The platform's `fetch` would do, and costs several times as much for streams and
 * copies that an answer of one JSON text does not need. Redirects are not followed: they are answers that are not ok.
 */
export function createRpcFetch(): RpcFetch {
  const dispatcher = new Agent({ connections: MAX_CONNECTIONS, keepAliveTimeout: 10_000 });
  return async (url, { method = 'POST', headers = {}, body, signal } = {}) => {
    const answer = await request(url, { dispatcher, method: method as 'POST', headers, body, signal });
    const text = await answer.body.text();
    const { statusCode: status, statusText } = answer;
    return { ok: status >= 200 && status < 300, status, statusText, text: async () => text };
  };
}

/** Sends by the platform's `fetch`, which asks for compressed answers: worth it where they are large. */
const sendForLarge: RpcFetch = async (url, init) => {
  const answer = await fetch(url, init);
  const text = await answer.text();
  const { ok, status, statusText, headers } = answer;
  return { ok, status, statusText, retryAfter: headers.get('retry-after'), text: async () => text };
};

/** A node did not answer. Of its address only the host is named: keys lie in the path, the query and the user's name. */
export class NodeAway extends Error {
  constructor(url: string, error: unknown) {
    const { cause = error } = error as { cause?: unknown };
    const { message, code } = cause as { message?: string; code?: string };
    const { protocol, host } = new URL(url);
    const name = `${protocol}//${host}`;
    const reason = (message || code || String(cause)).replaceAll(url, name);
    super(
      `the node at ${name} does not answer: ${reason}. SOLANA_RPC_URL says where it is, or HELIUS_URL with HELIUS_API_KEY`,
      { cause },
    );
  }
}

/** Gives a call up when it takes too long, or when `closing` says so, with the reason of either. */
function endInTime(send: RpcFetch, timeoutMs: number, closing: AbortSignal): RpcFetch {
  // Every call under way listens to it.
  setMaxListeners(0, closing);
  return async (url, init) => {
    closing.throwIfAborted();
    const giveUp = new AbortController();
    const close = () => giveUp.abort(closing.reason);
    const silence = () => giveUp.abort(new DOMException(`no answer in ${timeoutMs} ms`, 'TimeoutError'));
    const timer = setTimeout(silence, timeoutMs);
    closing.addEventListener('abort', close, { once: true });
    try {
      return await send(url, { ...init, signal: giveUp.signal });
    } catch (error) {
      throw closing.aborted ? error : new NodeAway(url, error);
    } finally {
      clearTimeout(timer);
      closing.removeEventListener('abort', close);
    }
  };
}

/**
 * Fetch that gives up on silence and asks again, `attempts` times in all, where the node is busy or gone; sending the same
 * bytes twice is harmless.
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

/** The node is busy, or counts our calls: it is to be asked again after so long. */
export class NotNow extends Error {
  readonly retryAfterMs: number;

  constructor(status: number, retryAfterMs: number) {
    super(`the node answers ${status}: asked again in ${retryAfterMs} ms`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** However long a node asks us to wait, it is asked again after so long. */
const MOST_WAIT_MS = 60_000;
/** Calls that a node refuses are repeated one by one: a page of many would never get through whole. */
const REFUSED_ATTEMPTS = 8;

/** By `Retry-After`, in seconds or as a date; without it, longer each time. */
function waitOf(header: string | null, attempt: number): number {
  const seconds = header === null ? Number.NaN : Number(header);
  const date = header === null ? Number.NaN : Date.parse(header) - Date.now();
  const asked = Number.isNaN(seconds) ? date : seconds * 1_000;
  return Math.min(MOST_WAIT_MS, Math.max(0, Number.isNaN(asked) ? PAUSE_MS * 2 ** attempt : asked));
}

/** Asks again, as late as the node wants it, where it answers "not now"; throws NotNow where it does so again and again. */
function waitWhenRefused(send: RpcFetch, closing: AbortSignal): RpcFetch {
  return async (url, init) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await send(url, init);
      if (answer.status !== 429 && answer.status !== 503) return answer;
      const waitMs = waitOf(answer.retryAfter ?? null, attempt);
      if (attempt === REFUSED_ATTEMPTS) throw new NotNow(answer.status, waitMs);
      await sleep(waitMs, undefined, { signal: closing });
    }
  };
}

/**
 * A connection that reads much at `confirmed`, and waits where it is told to; its owner tries again what else fails. Of
 * several URLs, with commas between, the next is asked where one fails.
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
      // Calls that fail together turn to the next one together.
      if (present === asked) present = (asked + 1) % urls.length;
    }
  };
  const send = waitWhenRefused(sendToAny, closing);
  return new Connection(urls[0]!, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: (url, init) => send(String(url), init as RpcInit) as never,
  });
}
