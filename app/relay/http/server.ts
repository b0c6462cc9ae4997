/**
 * The relay's HTTP server: /v1, /results, /health, /trpc and /mcp over Express, one error middleware, and limits on the cost
 * of a connection. Each answer carries X-Request-Id, and every error has the specification's body.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TRPCError } from '@trpc/server';
import { createExpressMiddleware } from '@trpc/server/adapters/express';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { ProcedureEntry } from '../../sdk/wire/fields.ts';
import { PROCEDURES } from '../../sdk/wire/procedures.ts';
import { ERRORS } from '../../sdk/wire/wire.ts';
import { readAuthorities } from '../access/admin.ts';
import { MCP_PATH } from '../access/oauth/codes.ts';
import { createPublicLimit } from '../access/publicLimit.ts';
import { createTrialLimits } from '../agents/trial.ts';
import { ApiError, databaseAway, errorBody, internalError } from '../errors.ts';
import { invalid } from '../parse.ts';
import { shareReading } from '../shareReading.ts';
import { type Admitted, admitProcedure, maxBytesOf } from './admit.ts';
import { serveConnections } from './connections.ts';
import { createDashboard } from './dashboard.ts';
import type { RelayDeps } from './deps.ts';
import { createMcp } from './mcp.ts';
import { answerMetrics } from './metricsRoute.ts';
import { addOAuth } from './oauth.ts';
import type { ProcedureContext } from './procedures.ts';
import { type Answered, REQUEST_ID, sendError } from './respond.ts';
import { createRouteContext } from './routeContext.ts';
import { addRoutes, PAID_PATHS } from './router.ts';
import type { RouteContext } from './routes/route.ts';
import { createRouter, describe } from './trpc.ts';
import { createFetchWithin } from './within.ts';

/** How slow a client may be, milliseconds. */
interface ClientPatience {
  /** Time to send all headers. */
  headersMs: number;
  /** Time to send a whole request; answers may take as long as an agent does. */
  requestMs: number;
  /** Time without reading anything of the answer. */
  takeMs: number;
  /** Interval of the checks for slow connections. */
  checkMs: number;
}
const PATIENCE: ClientPatience = { headersMs: 15_000, requestMs: 60_000, takeMs: 30_000, checkMs: 5_000 };
/** Longer than the usual 60 s of a proxy in front: the proxy must close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Time for a client to read the answer to an invalid HTTP request. */
const LAST_WORD_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum age of the list of pending changes: longer than for other readings, because the node scans all accounts. */
const CHANGES_AGE_MS = 4_000;
/** Maximum for tRPC itself; admit.ts has the limit of each procedure. */
const MAX_TRPC_BYTES = Math.max(...Object.values<ProcedureEntry>(PROCEDURES).map(maxBytesOf));

/** Paths that programs ask every few seconds. */
const PROBED = new Set(['/health', '/ready', '/metrics']);

/** All routes of the server. */
export function createApp(deps: RelayDeps): Express {
  const app = express();
  const limit = createPublicLimit(deps);
  const context = createRouteContext(deps);
  const procedures = createProcedureContext(context);
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.set('strict routing', true);
  app.set('case sensitive routing', true);
  app.use(identify(deps), keepBrokenEscapes);
  app.use('/trpc', admitProcedure(procedures, limit), createTrpcHandler(procedures));
  app.all('/metrics', answerMetrics(deps));
  const dashboard =
    deps.dashboardFolder === null ? null : createDashboard(deps, deps.dashboardFolder, limit, context.guide);
  // Users add a slash to the address that they give to a host.
  const mcp = createMcp(deps, limit, createFetchWithin(app), dashboard !== null);
  for (const path of [MCP_PATH, `${MCP_PATH}/`]) app.all(path, mcp);
  if (dashboard) {
    addOAuth(app, deps, limit);
    app.use(dashboard.serve);
  }
  addRoutes(app, context, limit);
  app.use(async (request: Request, response: Response) => {
    await limit.admit(request);
    if (await dashboard?.answerUnknown(request, response)) return;
    throw new ApiError('not_found', `No route has the path ${request.path.slice(0, 200)}`);
  });
  app.use(answerError(deps));
  return app;
}

/** The server, not yet listening. Its owner closes it. */
export function createHttpServer(deps: RelayDeps, patience = PATIENCE): Server {
  const server = createServer({
    // A request without Host is answered like any other. Node would answer it with an empty body.
    requireHostHeader: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: patience.checkMs,
  });
  serveConnections(server, createApp(deps), patience.takeMs);
  server.requestTimeout = patience.requestMs;
  server.headersTimeout = patience.headersMs;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.on('clientError', answerBrokenRequest);
  // An unknown expectation may be ignored; Node would answer 417 with an empty body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  return server;
}

/** Gives the request an id, and logs its outcome without any text of a caller or creator. */
function identify(deps: RelayDeps) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const begun = performance.now();
    const requestId = randomUUID();
    response.setHeader(REQUEST_ID, requestId);
    response.on('close', () => {
      const route = request.route?.path ?? (request.baseUrl || null);
      const ms = Math.round(performance.now() - begun);
      const { refusal } = response.locals as Answered;
      deps.metrics.answered(response.statusCode);
      if (refusal && request.method === 'POST' && PAID_PATHS.has(route)) deps.metrics.refused(refusal);
      // Probes and Prometheus ask every few seconds.
      deps.log[PROBED.has(route) ? 'debug' : 'info'](
        { request_id: requestId, method: request.method, route, status: response.statusCode, code: refusal, ms },
        'request',
      );
    });
    next();
  };
}

/** A path with invalid %-escapes gets the 404 of its route, like any other unknown path. */
function keepBrokenEscapes(request: Request, _response: Response, next: NextFunction): void {
  const [path = '', ...query] = request.url.split('?');
  try {
    decodeURIComponent(path);
  } catch {
    request.url = [path.replaceAll('%', '%25'), ...query].join('?');
  }
  next();
}

function createProcedureContext({ deps, readReadiness }: RouteContext): ProcedureContext {
  const readConfig = shareReading(() => deps.accounts.readConfig(), deps.now);
  const readChanges = shareReading(() => deps.accounts.readChanges(), deps.now, CHANGES_AGE_MS);
  const admin = { views: deps.views, readConfig, readChanges };
  return {
    deps,
    admin,
    state: {
      ...deps.operator,
      views: deps.views,
      readAuthorities: () => readAuthorities(admin),
      readReadiness,
      now: deps.now,
    },
    trialLimits: createTrialLimits(),
  };
}

function createTrpcHandler(context: ProcedureContext) {
  const { deps } = context;
  return createExpressMiddleware({
    router: createRouter(context),
    createContext: ({ req: request, res: response }) => ({
      requestId: String(response.getHeader(REQUEST_ID)),
      session: (response.locals as Admitted).session,
      request,
      response,
    }),
    // One call reads the chain once: a batch would multiply the cost of an anonymous request.
    allowBatching: false,
    maxBodySize: MAX_TRPC_BYTES,
    responseMeta: ({ errors }) => ({ headers: errors[0] ? headersOf(errors[0]) : {} }),
    onError({ error, path, ctx, input }) {
      if (describe(error, input).code !== 'internal_error') return;
      deps.metrics.faulted();
      deps.log.error(
        { request_id: ctx?.requestId, procedure: path, error: error.cause?.stack ?? error.stack },
        'fault',
      );
    },
  });
}

/** tRPC omits the media type if it does not reach the procedure. */
function headersOf({ cause }: TRPCError): Record<string, string> {
  const seconds = cause instanceof ApiError ? cause.retryAfterSeconds : undefined;
  return { 'Content-Type': 'application/json', ...(seconds !== undefined && { 'Retry-After': String(seconds) }) };
}

function answerError(deps: RelayDeps) {
  // Express recognizes an error middleware by its four parameters.
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    if (error instanceof ApiError) {
      sendError(response, error);
      return;
    }
    // If the connection broke during the request, nobody can receive an answer.
    if (request.destroyed && !request.complete) return;
    const requestId = response.getHeader(REQUEST_ID);
    const away = databaseAway(error);
    if (away) {
      deps.log.warn({ request_id: requestId, error }, 'the database does not answer');
      sendError(response, away);
      return;
    }
    deps.metrics.faulted();
    deps.log.error({ request_id: requestId, error: error instanceof Error ? error.stack : String(error) }, 'fault');
    sendError(response, new ApiError('internal_error', internalError(String(requestId))));
  };
}

/** A request that Node's parser rejects never reaches Express, so the answer is written by hand. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  // A slow client with an earlier answer might read this as the rest of that answer.
  const wasAnswered = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesWritten > 0;
  if (error.code === 'ECONNRESET' || !socket.writable || wasAnswered) {
    socket.destroy();
    return;
  }
  const message =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? `The URL and headers of the request must be at most ${MAX_HEADER_BYTES} bytes together`
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request did not arrive in time'
        : 'This is not a valid HTTP request';
  const issue = { in: 'header', path: '', expected: 'must be a valid HTTP request', got: message } as const;
  const refusal = invalid(message, issue);
  const body = JSON.stringify(errorBody(refusal));
  socket.end(
    [
      `HTTP/1.1 ${ERRORS[refusal.code].status} Bad Request`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `${REQUEST_ID}: ${randomUUID()}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  setTimeout(() => socket.destroy(), LAST_WORD_MS).unref();
}
