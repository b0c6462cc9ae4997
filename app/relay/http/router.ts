/**
 * From the table of routes to Express: every route with its handler, its caching and its headers for other origins'
 * pages; OPTIONS for every path, 405 with Allow for every other method.
 */
import type { Application, Request, Response } from 'express';
import type { z } from 'zod';
import { ApiError } from '../errors.ts';
import {
  type Answer,
  CACHING,
  methodsOf,
  ROUTE_IDS,
  type ROUTES,
  type Route,
  type RouteId,
  routeOf,
} from './openapi/routes.ts';
import type { PublicLimit } from './publicLimit.ts';
import { send, sendBytes } from './respond.ts';

type ValueOf<OneAnswer> =
  | (OneAnswer extends { schema: infer Schema extends z.ZodType } ? z.input<Schema> : never)
  | (OneAnswer extends { bytes: string } ? Buffer : never);

/** One of the answers that the table has for this route; errors are thrown. */
export type Reply<Id extends RouteId> = {
  [Status in keyof (typeof ROUTES)[Id]['answers']]: {
    status: Status;
    value: ValueOf<(typeof ROUTES)[Id]['answers'][Status]>;
    headers?: Record<string, string>;
  };
}[keyof (typeof ROUTES)[Id]['answers']];

/** An answer in JSON that passed its schema when it was first made, and is given again byte for byte. */
export interface Given {
  status: number;
  given: Buffer;
  headers?: Record<string, string>;
}

/** What each route of the table does. */
export type Handlers = { [Id in RouteId]: (request: Request) => Promise<Reply<Id> | Given> };

interface AnyReply {
  status: number;
  value: unknown;
  headers?: Record<string, string>;
}

/**
 * Pages of any origin may read what needs no key. `Authorization` is never among the headers they may send: an API key
 * spends money, so it has no place in a page, where every script could take it.
 */
const CROSS_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Retry-After, X-Request-Id',
};
const CROSS_ORIGIN_PREFLIGHT = {
  ...CROSS_ORIGIN,
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Max-Age': '86400',
};

/** Adds every route of the table; what needs no key passes the limit first. */
export function addRoutes(app: Application, handlers: Handlers, limit: PublicLimit): void {
  for (const path of new Set(ROUTE_IDS.map((id) => routeOf(id).path))) {
    const here = app.route(expressPath(path));
    const ids = ROUTE_IDS.filter((id) => routeOf(id).path === path);
    for (const id of ids) {
      const route = routeOf(id);
      here[route.method](async (request, response) => {
        setPolicy(response, route);
        const handle = (): Promise<AnyReply | Given> => handlers[id](request);
        answer(response, route, await limited(limit, route, request, handle));
      });
    }
    const allowed = methodsOf(path);
    const open = ids.map(routeOf).filter((route) => route.access !== 'key');
    here.options((_request, response) => answerOptions(response, allowed, open));
    here.all((request, response) => refuseMethod(request, response, allowed));
  }
}

/** What a key opens is its handler's to judge, so that a good key is read once and costs nothing here. */
async function limited<Value>(
  limit: PublicLimit,
  route: Route,
  request: Request,
  handle: () => Promise<Value>,
): Promise<Value> {
  if (route.unlimited) return handle();
  if (route.access === 'public') {
    await limit.admit(request);
    return handle();
  }
  await limit.admitBare(request);
  try {
    return await handle();
  } catch (error) {
    await limit.admitRefused(request, error);
    throw error;
  }
}

/** `/v1/agents/{agent_id}` as Express writes it. */
export function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function setPolicy(response: Response, route: Route): void {
  response.setHeader('Cache-Control', route.cache);
  if (route.access !== 'public') response.setHeader('Vary', 'Authorization');
  if (route.access !== 'key') for (const [name, value] of Object.entries(CROSS_ORIGIN)) response.setHeader(name, value);
}

function answer(response: Response, route: Route, reply: AnyReply | Given): void {
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if ('given' in reply) {
    sendBytes(response, reply.status, reply.given, 'application/json; charset=utf-8');
    return;
  }
  const { schema, bytes } = route.answers[reply.status] as Answer;
  if (Buffer.isBuffer(reply.value)) sendBytes(response, reply.status, reply.value, `${bytes}; charset=utf-8`);
  else send(response, reply.status, schema!, reply.value);
}

function answerOptions(response: Response, allowed: string[], open: Route[]): void {
  response.setHeader('Allow', allowed.join(', '));
  response.setHeader('Cache-Control', CACHING.never);
  if (open.length > 0) {
    for (const [name, value] of Object.entries(CROSS_ORIGIN_PREFLIGHT)) response.setHeader(name, value);
    response.setHeader('Access-Control-Allow-Methods', allowed.join(', '));
  }
  response.writeHead(204).end();
}

function refuseMethod(request: Request, response: Response, allowed: string[]): void {
  response.setHeader('Allow', allowed.join(', '));
  throw new ApiError('method_not_allowed', `${request.method} is not allowed here; use ${allowed.join(', ')}`, {
    details: { allowed },
  });
}
