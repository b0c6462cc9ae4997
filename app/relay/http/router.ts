/**
 * Turns the table of routes into Express routes: each with its body limits, key, caching and CORS headers. Every path
 * answers OPTIONS, and 405 with Allow for every other method.
 */
import type { Application, Request, Response } from 'express';
import { ERRORS } from '../../sdk/wire/wire.ts';
import { askerOf, askerOfKey } from '../access/asker.ts';
import { authenticate, authenticateWallet } from '../access/auth.ts';
import type { Cost, PublicLimit } from '../access/publicLimit.ts';
import { ApiError } from '../errors.ts';
import { requireNoQuery } from '../parse.ts';
import type { RelayDeps } from './deps.ts';
import { finishOutput } from './outputStream.ts';
import { readJsonBody, requireDeclared, requireMethod } from './request.ts';
import { send, sendBytes, sendStream } from './respond.ts';
import {
  type Answer,
  type AnyReply,
  CACHING,
  type Caller,
  type Route,
  type RouteContext,
  SCOPE_OF,
  type StreamReply,
  type WrittenReply,
} from './routes/route.ts';
import { methodsOf, needsKey, ROUTE_IDS, routeOf } from './routes/table.ts';

const NO_BYTES = Buffer.alloc(0);

/**
 * Pages of any origin may read routes without a key. `Authorization` is never an allowed header: an API key spends
 * money, so it must not be in a page, where every script could take it.
 */
const CROSS_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Location, PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id',
};
const CROSS_ORIGIN_PREFLIGHT = {
  ...CROSS_ORIGIN,
  'Access-Control-Max-Age': '86400',
};

/** Adds every route of the table. Routes without a key pass the rate limit first. */
export function addRoutes(app: Application, context: RouteContext, limit: PublicLimit): void {
  for (const path of new Set(ROUTE_IDS.map((id) => routeOf(id).path))) {
    const here = app.route(expressPath(path));
    const ids = ROUTE_IDS.filter((id) => routeOf(id).path === path);
    for (const id of ids) {
      const route = routeOf(id);
      here[route.method](async (request, response) => {
        const arrivedMs = performance.now();
        setPolicy(response, route);
        answer(
          response,
          route,
          await limited(limit, route, request, () => handle(context, limit, route, request, arrivedMs)),
        );
      });
    }
    const allowed = methodsOf(path);
    const open = ids.map(routeOf).filter((route) => !needsKey(route));
    here.options((_request, response) => answerOptions(response, allowed, open));
    here.all((request, response) => requireMethod(request, response, allowed));
  }
}

/** The handler checks keys, so that a valid key is read only once. */
async function limited<Value>(
  limit: PublicLimit,
  route: Route,
  request: Request,
  handle: () => Promise<Value>,
): Promise<Value> {
  if (route.unlimited) return handle();
  const cost = costOf(route, request);
  if (route.access === 'public') {
    await limit.admit(request, cost);
    return countingUnpaid(limit, route, request, handle);
  }
  await limit.admitBare(request, cost);
  try {
    return await countingUnpaid(limit, route, request, handle);
  } catch (error) {
    await limit.admitRefused(request, error, cost);
    throw error;
  }
}

/**
 * Counts a payment, or a start by a signature, that is refused before it is a call, or repeated after its end. With a
 * key neither counts.
 */
async function countingUnpaid<Value>(
  limit: PublicLimit,
  route: Route,
  request: Request,
  handle: () => Promise<Value>,
): Promise<Value> {
  const isPayment = route.method === 'post' && route.isUrgent?.(request) && request.headers.authorization === undefined;
  if (!isPayment) return handle();
  try {
    const reply = await handle();
    const { status, headers } = reply as { status?: number; headers?: Record<string, string> };
    const isRefused = status === ERRORS.payment_required.status;
    if (isRefused || headers?.['Idempotent-Replayed']) await limit.countUnpaid(request);
    return reply;
  } catch (error) {
    if (error instanceof ApiError && !error.executionId) await limit.countUnpaid(request);
    throw error;
  }
}

const costOf = ({ weight, isUrgent }: Route, request: Request): Cost => ({ weight, isUrgent: isUrgent?.(request) });

/** Checks size and media type of the body, then the key and the query, then runs the route. */
async function handle(
  context: RouteContext,
  limit: PublicLimit,
  route: Route,
  request: Request,
  arrivedMs: number,
): Promise<AnyReply | WrittenReply | StreamReply> {
  const { body } = route;
  if (body) requireDeclared(request, body.maxBytes, body.mayBeEmpty);
  const caller = await findCaller(context.deps, route, request);
  const hasKey = caller !== null && 'keyId' in caller;
  if (caller && !hasKey) await limit.admitSession(request, caller.wallet, costOf(route, request));
  // After the key, because bodies of strangers have little room.
  const ask = () =>
    hasKey ? askerOfKey(context.deps, caller.wallet) : askerOf(context.deps, request, caller?.wallet ?? null);
  const bytes = body ? await readJsonBody(request, body.maxBytes, ask, body.mayBeEmpty) : NO_BYTES;
  if (!route.query && !route.anyQuery) requireNoQuery(request.url);
  return route.handle(context, { request, caller, param: (name) => String(request.params[name]), bytes, arrivedMs });
}

/** Throws ApiError if the route needs a key that the request lacks. */
async function findCaller(deps: RelayDeps, { access }: Route, request: Request): Promise<Caller> {
  switch (access) {
    case 'public':
      return null;
    case 'read':
    case 'owner':
    case 'webhooks':
      return authenticateWallet(deps, request, SCOPE_OF[access]);
    case 'key':
    case 'execute':
      return authenticate(deps, request, SCOPE_OF[access]);
    case 'wallet':
      return request.headers.authorization === undefined ? null : authenticate(deps, request, SCOPE_OF[access]);
  }
}

/** The paths of paid calls, as `request.route` names them. */
export const PAID_PATHS: ReadonlySet<string> = new Set(
  (['executeAgent', 'buyExecution', 'startExecution'] as const).map((id) => expressPath(routeOf(id).path)),
);

/** `/v1/agents/{agent_id}` in Express's syntax. */
function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function setPolicy(response: Response, route: Route): void {
  response.setHeader('Cache-Control', route.cache);
  if (route.access !== 'public') response.setHeader('Vary', 'Authorization, Cookie');
  if (!needsKey(route)) for (const [name, value] of Object.entries(CROSS_ORIGIN)) response.setHeader(name, value);
}

function answer(response: Response, route: Route, reply: AnyReply | WrittenReply | StreamReply): void {
  if ('stream' in reply) {
    sendStream(response, reply.stream);
    return;
  }
  if ('body' in reply && finishOutput(response, reply.status, reply.body, reply.headers)) return;
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if ('body' in reply) {
    sendBytes(response, reply.status, reply.body, 'application/json; charset=utf-8');
    return;
  }
  const { schema, bytes } = route.answers[reply.status] as Answer;
  if (Buffer.isBuffer(reply.value)) {
    const type = reply.headers?.['Content-Type'] ?? `${bytes}; charset=utf-8`;
    sendBytes(response, reply.status, [reply.value], type);
  } else send(response, reply.status, schema!, reply.value, reply.parts);
}

function answerOptions(response: Response, allowed: string[], open: Route[]): void {
  response.setHeader('Allow', allowed.join(', '));
  response.setHeader('Cache-Control', CACHING.never);
  if (open.length > 0) {
    const named = open.flatMap(({ headers = {} }) => Object.keys(headers));
    // The client of x402 sends this response header in its requests.
    if (named.includes('PAYMENT-SIGNATURE')) named.push('Access-Control-Expose-Headers');
    response.setHeader('Access-Control-Allow-Headers', ['Content-Type', 'If-None-Match', ...named].join(', '));
    for (const [name, value] of Object.entries(CROSS_ORIGIN_PREFLIGHT)) response.setHeader(name, value);
    response.setHeader('Access-Control-Allow-Methods', allowed.join(', '));
  }
  response.writeHead(204).end();
}
