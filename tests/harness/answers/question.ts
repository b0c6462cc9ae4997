/** The forms of a question, and values that many questions have. */

/** One question. With `shape`, only the types of values are compared, because the values depend on the node. */
export type Question = { shape?: true } & (
  | { method: string; params: unknown[] }
  | { http: HttpQuestion }
  | Subscribing
);

export interface HttpQuestion {
  /** POST by default. */
  method?: string;
  path?: string;
  body?: string;
  /** JSON by default. */
  type?: string;
  /** Sends an Origin header. */
  origin?: true;
}

export interface Subscribing {
  subscribe: string;
  params: unknown[];
  /** A transaction to send after the subscription, base64. */
  send?: string;
  /** The subscription ends with its first notification. */
  ends?: true;
}

export const SYSTEM = '11111111111111111111111111111111';
export const FAR = 1_000_000_000;
export const BASE64 = { encoding: 'base64' };
export const JSON_PARSED = { encoding: 'jsonParsed' };
export const V0 = { maxSupportedTransactionVersion: 0 };
export const ANY_VERSION = { maxSupportedTransactionVersion: 255 };

export const ask = (method: string, ...params: unknown[]): Question => ({ method, params });
export const shape = (method: string, ...params: unknown[]): Question => ({ method, params, shape: true });
export const http = (body: string | undefined, more: Omit<HttpQuestion, 'body'> = {}): Question => ({
  http: { ...(body !== undefined && { body }), ...more },
});
export const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
