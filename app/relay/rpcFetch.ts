/**
 * Calls to the node over connections that stay open. The platform's `fetch` would do, and costs several times as much for
 * streams and copies that an answer of one JSON text does not need.
 */
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
