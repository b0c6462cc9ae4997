/**
 * What one REST route is: how it is asked, by whom, what it answers, in words and by schemas, and what it does. The
 * router, /openapi.json, /docs and the tests of keys are all made from this one entry.
 */
import type { Request } from 'express';
import type { z } from 'zod';
import type { ErrorCode, Ready } from '../../../sdk/wire/wire.ts';
import type { RelayDeps } from '../../deps.ts';
import type { Principal } from '../../execution/contract.ts';
import type { Parts } from '../../json.ts';
import type { Body } from '../../longBytes.ts';

/** How long an answer may be kept, by whom: the value of Cache-Control. What may be kept has an ETag. */
export const CACHING = {
  /** Changes with every execution; a few seconds spare a crowd's questions. */
  listing: 'public, max-age=5',
  /** Changes with a release. */
  document: 'public, max-age=300',
  /** One caller's, for ever the same. */
  result: 'private, max-age=31536000, immutable',
  /** Everybody's, for ever the same. */
  leaves: 'public, max-age=31536000, immutable',
  never: 'no-store',
} as const;

/** One answer that is no error: JSON by its schema, or bytes; with both, bytes for those who ask for that media type. */
export interface Answer {
  about: string;
  schema?: z.ZodType;
  /** Media type of an answer in bytes. */
  bytes?: 'text/plain' | 'text/html' | 'application/json';
  headers?: readonly ResponseHeader[];
  /** By the names that they are shown under. */
  examples?: Record<string, unknown>;
}

export type ResponseHeader = 'Allow' | 'Retry-After' | 'Idempotent-Replayed';

export interface RequestHeader {
  about: string;
  schema: z.ZodType;
}

/**
 * Who may ask, which the router finds out. `read` and `execute`: holders of a key with that scope, for `read` also of a
 * session of the wallet. `wallet`: holders of a key with the scope `execute`, or of the wallet itself, who sign the body.
 */
export type Access = 'public' | 'read' | 'execute' | 'wallet';

/** What the router knows of the asker. */
export type Caller<By extends Access = Access> = {
  public: null;
  read: { wallet: string };
  execute: Principal;
  wallet: Principal | null;
}[By];

export interface Route {
  method: 'get' | 'post';
  path: `/${string}`;
  tag: 'Agents' | 'Executions' | 'Creators' | 'Service';
  summary: string;
  about: string;
  access: Access;
  /** What each part of the path in braces is. */
  params?: Record<string, { about: string; example: string }>;
  query?: z.ZodObject;
  headers?: Record<string, RequestHeader>;
  body?: { schema: z.ZodType; maxBytes: number; example: unknown };
  answers: Record<number, Answer>;
  /** Those of its own; what can happen to every request, and to every one with a key or a body, is added. */
  errors: readonly ErrorCode[];
  cache: (typeof CACHING)[keyof typeof CACHING];
  /** Answered however often an address asks. */
  unlimited?: true;
  handle(context: RouteContext, call: Call<Caller>): Promise<AnyReply | WrittenReply>;
}

/** What routes answer from. */
export interface RouteContext {
  deps: RelayDeps;
  /** Whether executions can be taken and read, as it was at most 2 s ago. */
  readReadiness(): Promise<Ready>;
  /** The bytes of /openapi.json, and of /docs. */
  openapi(): Buffer;
  docs(): Buffer;
}

/** A request whose body has the right size and media type, and whose key is good. */
export interface Call<By> {
  request: Request;
  caller: By;
  /** A part of the path in braces. */
  param(name: string): string;
  /** The body's JSON; empty where the route takes none. */
  bytes: Buffer;
  /** When it came, by `performance.now`: before its body was read. */
  arrivedMs: number;
}

/** An answer that leaves through the schema of its status. */
export interface AnyReply {
  status: number;
  value: unknown;
  /** Members of the value that are JSON already. */
  parts?: Parts;
  headers?: Record<string, string>;
}

/** An answer in JSON that passed its schema when it was first made. */
export interface WrittenReply {
  status: number;
  body: Body;
  headers?: Record<string, string>;
}

type ValueOf<OneAnswer> =
  | (OneAnswer extends { schema: infer Schema extends z.ZodType } ? z.input<Schema> : never)
  | (OneAnswer extends { bytes: string } ? Buffer : never);

/** One of the answers that the route has; errors are thrown. */
type Reply<Answers> = {
  [Status in keyof Answers]: {
    status: Status;
    value: ValueOf<Answers[Status]>;
    parts?: Parts;
    headers?: Record<string, string>;
  };
}[keyof Answers];

/** An entry of the table: what it does is held by the compiler to what it says that it answers, and to whom. */
export function route<const Answers extends Record<number, Answer>, const By extends Access>(
  entry: Omit<Route, 'access' | 'answers' | 'handle'> & {
    access: By;
    answers: Answers;
    handle(context: RouteContext, call: Call<Caller<By>>): Promise<Reply<Answers> | WrittenReply>;
  },
): Route {
  return entry as unknown as Route;
}
