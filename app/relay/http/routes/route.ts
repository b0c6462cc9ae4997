/**
 * One REST route: method, access, answers as text and schemas, and handler. The router, /openapi.json, /docs and the
 * tests of keys are all made from this entry.
 */
import type { Request } from 'express';
import type { z } from 'zod';
import type { KeyScope } from '../../../sdk/wire/keyScopes.ts';
import type { ErrorCode, Ready } from '../../../sdk/wire/wire.ts';
import type { Offered } from '../../calls/x402/directory.ts';
import type { Webhooks } from '../../events/endpoints.ts';
import type { OpenStream } from '../../events/streams.ts';
import type { Principal } from '../../execution/contract.ts';
import type { Parts } from '../../json.ts';
import type { Body } from '../../longBytes.ts';
import type { RelayDeps } from '../deps.ts';

/** How long and by whom an answer may be cached: the value of Cache-Control. Cacheable answers have an ETag. */
export const CACHING = {
  /** Changes with every execution; a few seconds absorb many equal requests. */
  listing: 'public, max-age=5',
  /** Changes with a release. */
  document: 'public, max-age=300',
  /** Private to one caller, and never changes. */
  result: 'private, max-age=31536000, immutable',
  /** Public, and never changes. */
  leaves: 'public, max-age=31536000, immutable',
  never: 'no-store',
} as const;

/** One successful answer: JSON by its schema, or bytes. With both, clients that accept that media type get bytes. */
export interface Answer {
  about: string;
  schema?: z.ZodType;
  /** Media type of an answer in bytes. For `image/*`, the reply's header `Content-Type` says which. */
  bytes?: 'text/plain' | 'text/csv' | 'text/html' | 'text/event-stream' | 'application/json' | 'image/*';
  headers?: readonly ResponseHeader[];
  /** By display name. */
  examples?: Record<string, unknown>;
}

export type ResponseHeader = 'Allow' | 'Retry-After' | 'Idempotent-Replayed' | 'Location' | 'PAYMENT-RESPONSE';

interface RequestHeader {
  about: string;
  schema: z.ZodType;
}

/**
 * The required credentials, which the router checks. `read`, `execute` and `webhooks`: a key with that scope; for `read`
 * and `webhooks` also a session of the wallet. `key`: a key of any scope. `owner`: a key with the scope `execute`, or a
 * session of the wallet. `wallet`: a key with the scope `execute`, or the wallet's signature in the body.
 */
type Access = 'public' | 'read' | 'key' | 'owner' | 'webhooks' | 'execute' | 'wallet';

/** The scope that a key needs; null if any key will do, or none is needed. */
export const SCOPE_OF = {
  public: null,
  read: 'read',
  key: null,
  owner: 'execute',
  webhooks: 'webhooks',
  execute: 'execute',
  wallet: 'execute',
} as const satisfies Record<Access, KeyScope | null>;

/** The caller as the router identified it, by access. */
export type Caller<By extends Access = Access> = {
  public: null;
  /** A session has no `keyId`. */
  read: { wallet: string; keyId?: string };
  key: Principal;
  owner: { wallet: string };
  webhooks: { wallet: string };
  execute: Principal;
  wallet: Principal | null;
}[By];

export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: `/${string}`;
  tag: 'Agents' | 'Executions' | 'Events' | 'Webhooks' | 'Creators' | 'Service';
  summary: string;
  about: string;
  access: Access;
  /** The parts of the path in braces. */
  params?: Record<string, { about: string; example: string }>;
  query?: z.ZodObject;
  /** Without `query`, a request with a query is refused, unless this is set. */
  anyQuery?: true;
  /** Values of a typical request, for the document and the code in the guide. */
  queryExample?: Record<string, string | number | boolean>;
  headers?: Record<string, RequestHeader>;
  /** `mayBeEmpty`: a request without a body reaches the handler, whatever media type it declares. */
  body?: { schema: z.ZodType; maxBytes: number; example: unknown; mayBeEmpty?: true };
  answers: Record<number, Answer>;
  /** The route's own errors. Errors of every request, of every key and of every body are added. */
  errors: readonly ErrorCode[];
  cache: (typeof CACHING)[keyof typeof CACHING];
  /** Exempt from the rate limit. */
  unlimited?: true;
  /** The number of ordinary requests that cost as much; default: 1. */
  weight?: number;
  /** True for a request that counts no more against the rate limit while many calls run. */
  isUrgent?(request: Request): boolean;
  handle(context: RouteContext, call: Call<Caller>): Promise<AnyReply | WrittenReply | StreamReply>;
}

/** The context of the routes. */
export interface RouteContext {
  deps: RelayDeps;
  webhooks: Webhooks;
  /** The readiness for executions, at most 2 s old. */
  readReadiness(): Promise<Ready>;
  /** The text of the guide, for the web page. */
  guide(): string;
  /** The agents that x402 clients can pay; at most 10 s old. */
  readOffered(): Promise<Offered[]>;
  /** The bytes of /openapi.json, /docs and /llms.txt. */
  openapi(): Promise<Buffer>;
  docs(): Buffer;
  llms(): Buffer;
}

/** A request whose body has a valid size and media type, and whose key is valid. */
interface Call<By> {
  request: Request;
  caller: By;
  /** The value of a part of the path in braces. */
  param(name: string): string;
  /** The JSON body; empty if the route takes none. */
  bytes: Buffer;
  /** Time of arrival by `performance.now`, before the body was read. */
  arrivedMs: number;
}

/** An answer that is sent through the schema of its status. */
export interface AnyReply {
  status: number;
  value: unknown;
  /** Members of the value that are JSON text already. */
  parts?: Parts;
  headers?: Record<string, string>;
}

/** A JSON answer that passed its schema when it was first made. */
export interface WrittenReply {
  status: number;
  body: Body;
  headers?: Record<string, string>;
}

/** An answer that is written piece by piece; null for an empty 204. */
export interface StreamReply {
  stream: OpenStream | null;
}

type ValueOf<OneAnswer> =
  | (OneAnswer extends { schema: infer Schema extends z.ZodType } ? z.input<Schema> : never)
  | (OneAnswer extends { bytes: string } ? Buffer : never);

/** One of the route's declared answers; errors are thrown. */
type Reply<Answers> = {
  [Status in keyof Answers]: {
    status: Status;
    value: ValueOf<Answers[Status]>;
    parts?: Parts;
    headers?: Record<string, string>;
  };
}[keyof Answers];

/** The answers of a route that has only one. */
export const ok = <const One extends Answer>(answer: One) => ({ 200: answer });

/** An entry of the table. The compiler checks its handler against its declared answers and access. */
export function route<const Answers extends Record<number, Answer>, const By extends Access>(
  entry: Omit<Route, 'access' | 'answers' | 'handle'> & {
    access: By;
    answers: Answers;
    handle(context: RouteContext, call: Call<Caller<By>>): Promise<Reply<Answers> | WrittenReply | StreamReply>;
  },
): Route {
  return entry as unknown as Route;
}
