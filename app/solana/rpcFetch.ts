/**
 * Calls to the node over connections that stay open. The platform's `fetch` would do, and costs several times as much for
 * streams and copies that an answer of one JSON text does not need.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchFn } from '@solana/web3.js';
import { Agent, request } from 'undici';

/** As much of a response as JSON-RPC needs; its text is here when it is. */
export interface RpcResponse {
  ok: boolean;
  status: number;
  statusText: string;
  text(): Promise<string>;
}

export interface RpcInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export type RpcFetch = (url: string, init?: RpcInit) => Promise<RpcResponse>;

/** A node that has not answered by then is asked again; the longest answers take a second. */
const TIMEOUT_MS = 4_000;
const ATTEMPTS = 3;
const PAUSE_MS = 100;
/** Answers of a node, or of the balancer before it, that say "not now". */
const RETRIED_STATUSES = new Set([429, 500, 502, 503, 504]);
/** Connections to one node: beyond so many, calls wait for one another. */
const MAX_CONNECTIONS = 256;

/** Redirects are not followed: they are answers that are not ok. */
export function createRpcFetch(): RpcFetch {
  const dispatcher = new Agent({ connections: MAX_CONNECTIONS, keepAliveTimeout: 10_000 });
  return async (url, { method = 'POST', headers = {}, body, signal } = {}) => {
    const answer = await request(url, { dispatcher, method: method as 'POST', headers, body, signal });
    const text = await answer.body.text();
    const { statusCode: status, statusText } = answer;
    return { ok: status >= 200 && status < 300, status, statusText, text: async () => text };
  };
}

/** Fetch that gives up on silence and asks again where the node is busy or gone; sending the same bytes twice is harmless. */
export function createPatientFetch(closing: AbortSignal, send: RpcFetch): FetchFn {
  async function sendInTime(url: string, init: RpcInit): Promise<RpcResponse> {
    closing.throwIfAborted();
    const giveUp = new AbortController();
    const close = () => giveUp.abort(closing.reason);
    const timer = setTimeout(() => giveUp.abort(new DOMException('no answer in time', 'TimeoutError')), TIMEOUT_MS);
    closing.addEventListener('abort', close, { once: true });
    try {
      return await send(url, { ...init, signal: giveUp.signal });
    } finally {
      clearTimeout(timer);
      closing.removeEventListener('abort', close);
    }
  }
  return async (url, init) => {
    const { method, headers, body } = init as { method: string; headers: Record<string, string>; body: string };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await sendInTime(String(url), { method, headers, body });
        if (attempt === ATTEMPTS || !RETRIED_STATUSES.has(response.status)) return response as never;
      } catch (error) {
        if (attempt === ATTEMPTS || closing.aborted) throw error;
      }
      await sleep(PAUSE_MS * attempt ** 2, undefined, { signal: closing });
    }
  };
}
