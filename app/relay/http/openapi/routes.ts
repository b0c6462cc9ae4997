/**
 * The one table of REST routes. The relay's router is built from it, /openapi.json and /docs are written from it, so a
 * route cannot be undocumented, nor documented and missing. Handlers are in v1.ts, by the same names.
 */
import { z } from 'zod';
import { MAX_METADATA_BYTES } from '../../../sdk/wire/metadata.ts';
import {
  AgentFull,
  AgentMetadata,
  AgentPage,
  AgentsQuery,
  Directory,
  type ErrorCode,
  ExecuteAccepted,
  ExecuteBody,
  ExecuteCompleted,
  ExecutionFull,
  ExecutionPage,
  ExecutionsQuery,
  Health,
  KeyDirectory,
  MAX_BODY_BYTES,
  MetadataAccepted,
  Ready,
  StartBody,
} from '../../../sdk/wire/wire.ts';

/** How long an answer may be kept, by whom: the value of Cache-Control. What may be kept has an ETag. */
export const CACHING = {
  /** Changes with every execution; a few seconds spare a crowd's questions. */
  listing: 'public, max-age=5',
  /** Changes with a release. */
  document: 'public, max-age=300',
  /** One caller's, for ever the same. */
  result: 'private, max-age=31536000, immutable',
  never: 'no-store',
} as const;

/** One answer that is no error: JSON by its schema, or bytes; with both, bytes for whoever asks for that media type. */
export interface Answer {
  about: string;
  schema?: z.ZodType;
  /** Media type of an answer in bytes. */
  bytes?: 'text/plain' | 'text/html' | 'application/json';
  headers?: ResponseHeader[];
}

export type ResponseHeader = 'Allow' | 'Retry-After' | 'Idempotent-Replayed';

export interface RequestHeader {
  about: string;
  schema: z.ZodType;
}

export interface Route {
  method: 'get' | 'post';
  path: `/${string}`;
  tag: 'Agents' | 'Executions' | 'Creators' | 'Service';
  summary: string;
  about: string;
  /** `key`: needs an API key, and is therefore closed to other origins' pages. `wallet`: a key or a wallet's signature. */
  access: 'public' | 'key' | 'wallet';
  /** What each part of the path in braces is. */
  params?: Record<string, string>;
  query?: z.ZodObject;
  headers?: Record<string, RequestHeader>;
  body?: { schema: z.ZodType; maxBytes: number };
  answers: Record<number, Answer>;
  /** Those of its own; what can happen to every request, and to every one with a key or a body, is added. */
  errors: readonly ErrorCode[];
  cache: (typeof CACHING)[keyof typeof CACHING];
  /** Answered however often an address asks. */
  unlimited?: true;
}

const AGENT_ID = 'The agent: the base58 address of its on-chain listing.';
const EXECUTION_ID = 'The execution, a UUID.';

export const ROUTES = {
  listAgents: {
    method: 'get',
    path: '/v1/agents',
    tag: 'Agents',
    summary: 'List active agents',
    about: 'A page of the active agents. Sorted descending (`price_asc` ascending), ties by agent_id.',
    access: 'public',
    query: AgentsQuery,
    answers: { 200: { about: 'The page.', schema: AgentPage } },
    errors: [],
    cache: CACHING.listing,
  },
  getAgent: {
    method: 'get',
    path: '/v1/agents/{agent_id}',
    tag: 'Agents',
    summary: 'Read one agent',
    about: 'The full listing of an active or paused agent, with the JSON Schema of its `parameters`.',
    access: 'public',
    params: { agent_id: AGENT_ID },
    answers: { 200: { about: 'The listing.', schema: AgentFull } },
    errors: ['agent_not_found', 'metadata_missing'],
    cache: CACHING.listing,
  },
  executeAgent: {
    method: 'post',
    path: '/v1/agents/{agent_id}/execute',
    tag: 'Executions',
    summary: 'Execute an agent and pay for it',
    about:
      'Puts the price into an on-chain escrow, calls the agent and answers with its signed result, once the escrow is settled. With `async` it answers as soon as the escrow is funded.',
    access: 'key',
    params: { agent_id: AGENT_ID },
    headers: {
      'Idempotency-Key': {
        about:
          'Makes repeating this request safe: the same key of the same wallet is the same execution, charged once. Its final answer is given again byte for byte for 24 hours, with `Idempotent-Replayed: true`; later from the record, as long as that exists. An open that provably did not pay frees the key.',
        schema: z.string().regex(/^[\x21-\x7e]{1,255}$/),
      },
    },
    body: { schema: ExecuteBody, maxBytes: MAX_BODY_BYTES },
    answers: {
      200: {
        about: 'The result, settled; with `async`, the funded execution.',
        schema: z.union([ExecuteCompleted, ExecuteAccepted]),
        headers: ['Idempotent-Replayed'],
      },
      202: {
        about: 'The outcome is not known yet. It goes on by itself: read the execution until it has ended.',
        schema: ExecuteAccepted,
        headers: ['Retry-After'],
      },
    },
    errors: [
      'insufficient_balance',
      'agent_not_found',
      'execution_timeout',
      'price_changed',
      'request_in_progress',
      'result_unavailable',
      'agent_paused',
      'idempotency_key_reused',
      'execution_failed',
      'metadata_missing',
    ],
    cache: CACHING.never,
  },
  startExecution: {
    method: 'post',
    path: '/v1/executions/{execution_id}/start',
    tag: 'Executions',
    summary: 'Start an execution that a wallet opened itself',
    about:
      "Runs an execution whose escrow its wallet funded on-chain by `open_execution`, and answers as execute does. Needs an API key of that wallet, or the wallet's own `wallet_signature` in the body instead. Repeating it never runs it twice: while it runs the answer is 409, with `async` 200 `pending`; afterwards how it ended, each time the same.",
    access: 'wallet',
    params: { execution_id: EXECUTION_ID },
    body: { schema: StartBody, maxBytes: MAX_BODY_BYTES },
    answers: {
      200: {
        about: 'The result, settled; with `async`, the started execution.',
        schema: z.union([ExecuteCompleted, ExecuteAccepted]),
        headers: ['Idempotent-Replayed'],
      },
      202: {
        about: 'The outcome is not known yet. It goes on by itself: read the execution until it has ended.',
        schema: ExecuteAccepted,
        headers: ['Retry-After'],
      },
    },
    errors: [
      'agent_not_found',
      'execution_not_found',
      'execution_timeout',
      'request_in_progress',
      'not_startable',
      'result_unavailable',
      'execution_failed',
      'metadata_missing',
    ],
    cache: CACHING.never,
  },
  listExecutions: {
    method: 'get',
    path: '/v1/executions',
    tag: 'Executions',
    summary: "List the wallet's executions",
    about:
      "A page of the executions of the key's wallet, newest first, in the order of the chain. Instead of a key it takes the token of a wallet's session (`auth.verify` of /trpc).",
    access: 'key',
    query: ExecutionsQuery,
    answers: { 200: { about: 'The page.', schema: ExecutionPage } },
    errors: [],
    cache: CACHING.never,
  },
  getExecution: {
    method: 'get',
    path: '/v1/executions/{execution_id}',
    tag: 'Executions',
    summary: 'Read one execution',
    about:
      "The full record, for polling and for its result. Instead of a key it takes the token of a wallet's session (`auth.verify` of /trpc).",
    access: 'key',
    params: { execution_id: EXECUTION_ID },
    answers: { 200: { about: 'The record.', schema: ExecutionFull } },
    errors: ['execution_not_found'],
    cache: CACHING.never,
  },
  postMetadata: {
    method: 'post',
    path: '/v1/metadata',
    tag: 'Creators',
    summary: "Send a listing's description",
    about:
      'Takes the bytes whose SHA-256 a listing carries, or is about to carry, as its `metadata_hash`: JSON, hashed as it is posted. They are kept 24 hours for a listing that is not made yet, and shown to nobody before. With the session token of a wallet in `Authorization` they are kept for that wallet, which may then have the endpoint tested.',
    access: 'public',
    body: { schema: AgentMetadata, maxBytes: MAX_METADATA_BYTES },
    answers: { 200: { about: 'Accepted.', schema: MetadataAccepted } },
    errors: ['unauthorized'],
    cache: CACHING.never,
  },
  getResult: {
    method: 'get',
    path: '/results/{execution_id}/{token}',
    tag: 'Executions',
    summary: 'Fetch the bytes of a result',
    about:
      "An execution's `ipfs_url`: the exact bytes that were hashed and signed. Whoever has the address may read them.",
    access: 'public',
    params: { execution_id: EXECUTION_ID, token: 'The unguessable part of the `ipfs_url`.' },
    answers: { 200: { about: 'The result.', bytes: 'text/plain' } },
    errors: ['not_found'],
    cache: CACHING.result,
  },
  getKeyDirectory: {
    method: 'get',
    path: '/.well-known/http-message-signatures-directory',
    tag: 'Creators',
    summary: 'Fetch the keys that sign calls to creators',
    about:
      'Every call to a creator bears an HTTP Message Signature (RFC 9421) by one of these Ed25519 keys over method, authority, path, content type, body digest and the headers `Marketplace-Signing-Key` and `Marketplace-Purpose`. `kid` is the RFC 7638 thumbprint, the `keyid` of signatures.',
    access: 'public',
    answers: { 200: { about: 'The keys, the signing one first.', schema: KeyDirectory } },
    errors: [],
    cache: CACHING.document,
  },
  getRoot: {
    method: 'get',
    path: '/',
    tag: 'Service',
    summary: 'Ask where everything is',
    about: 'Where the guide, this document and the interface of the program are.',
    access: 'public',
    answers: { 200: { about: 'The addresses.', schema: Directory, bytes: 'text/html' } },
    errors: [],
    cache: CACHING.document,
  },
  getHealth: {
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Ask whether the process answers',
    about: 'Always 200: for whoever restarts a process that hangs. Whether it can serve is asked at `/ready`.',
    access: 'public',
    answers: { 200: { about: 'It answers.', schema: Health } },
    errors: [],
    cache: CACHING.never,
    unlimited: true,
  },
  getReady: {
    method: 'get',
    path: '/ready',
    tag: 'Service',
    summary: 'Ask whether the service works',
    about: 'Whether executions can be taken and read now, and what is in the way.',
    access: 'public',
    answers: { 200: { about: 'They can.', schema: Ready }, 503: { about: 'They cannot.', schema: Ready } },
    errors: [],
    cache: CACHING.never,
  },
  getOpenapi: {
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'Fetch this document',
    about: 'OpenAPI 3.1, written from the schemas that every request and answer passes.',
    access: 'public',
    answers: { 200: { about: 'The document.', bytes: 'application/json' } },
    errors: [],
    cache: CACHING.document,
  },
  getDocs: {
    method: 'get',
    path: '/docs',
    tag: 'Service',
    summary: 'Read the guide',
    about: 'This document as a page for people, with a guide.',
    access: 'public',
    answers: { 200: { about: 'The page.', bytes: 'text/html' } },
    errors: [],
    cache: CACHING.document,
  },
  getIdl: {
    method: 'get',
    path: '/idl.json',
    tag: 'Service',
    summary: "Fetch the program's interface",
    about:
      'The Anchor IDL of the program on-chain: every instruction, account, event and error, for whoever calls it without this API.',
    access: 'public',
    answers: { 200: { about: 'The IDL.', bytes: 'application/json' } },
    errors: [],
    cache: CACHING.document,
  },
} as const satisfies Record<string, Route>;

export type RouteId = keyof typeof ROUTES;
export const ROUTE_IDS = Object.keys(ROUTES) as RouteId[];

/** A route as any other, without its literal types. */
export const routeOf = (id: RouteId): Route => ROUTES[id];

const KEY_ERRORS = [
  'unauthorized',
  'wrong_environment',
  'insufficient_scope',
  'address_not_allowed',
  'service_unavailable',
] as const;

/** What every route, every one with a key, and every one with a body can answer. */
export function errorsOf(route: Route): ErrorCode[] {
  // 405 is no operation's own: it stands with each, because who reads one has to learn that its address can answer it.
  const codes: ErrorCode[] = ['invalid_request', 'method_not_allowed', ...route.errors, 'internal_error'];
  if (!route.unlimited) codes.push('rate_limited');
  if (route.params) codes.push('not_found');
  if (route.access !== 'public') codes.push(...KEY_ERRORS);
  if (route.body) codes.push('payload_too_large', 'unsupported_media_type');
  return [...new Set(codes)];
}

/** Methods of a path, as `Allow` has them. */
export function methodsOf(path: string): string[] {
  const methods = ROUTE_IDS.map(routeOf).flatMap((route) => (route.path === path ? [route.method] : []));
  return [...methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])), 'OPTIONS'];
}
