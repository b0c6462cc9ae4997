/**
 * The relay's HTTP server: /v1, /results, /health and /trpc over Express, one error middleware, and limits on what a
 * connection may cost. Each answer carries X-Request-Id, and every error has the specification's body.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createExpressMiddleware } from '@trpc/server/adapters/express';
import express, { type NextFunction, type Request, type Response } from 'express';
import { ERRORS, MAX_BODY_BYTES } from '../sdk/wire.ts';
import { readBearer } from './auth.ts';
import type { RelayDeps } from './deps.ts';
import { ApiError } from './errors.ts';
import { errorBody, sendError } from './respond.ts';
import { createSessions } from './sessions.ts';
import { createRouter, describe } from './trpc.ts';
import { addRoutes } from './v1.ts';

/** Time to send a whole request; answers may take as long as an agent does. */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Longer than the usual 60 s of a proxy in front, which must be the one that closes. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const MAX_HEADER_BYTES = 16 * 1024;

const REQUEST_ID = 'X-Request-Id';

/** The server, not yet listening. Closing it is its owner's business. */
export function createHttpServer(deps: RelayDeps): Server {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.set('strict routing', true);
  app.set('case sensitive routing', true);
  app.use(identify(deps), keepBrokenEscapes);
  app.use('/trpc', createTrpcHandler(deps));
  addRoutes(app, deps);
  app.use((request: Request) => {
    throw new ApiError('not_found', `There is nothing at ${request.path.slice(0, 200)}`);
  });
  app.use(answerError(deps));

  const server = createServer(
    // A request without Host is answered like any other, instead of by Node with an empty body.
    { requireHostHeader: false, maxHeaderSize: MAX_HEADER_BYTES },
    app,
  );
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.on('clientError', answerBrokenRequest);
  // An expectation that we do not know may be ignored, which beats Node's own 417 with an empty body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  return server;
}

/** Names the request, and logs its outcome without anything that a caller or creator wrote. */
function identify(deps: RelayDeps) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const begun = performance.now();
    const requestId = randomUUID();
    response.setHeader(REQUEST_ID, requestId);
    response.on('close', () => {
      const route = request.route?.path ?? (request.baseUrl || null);
      const ms = Math.round(performance.now() - begun);
      deps.log.info(
        { request_id: requestId, method: request.method, route, status: response.statusCode, ms },
        'request',
      );
    });
    next();
  };
}

/** A path whose %-escapes are broken is garbage like any other, and ends in the 404 of its route. */
function keepBrokenEscapes(request: Request, _response: Response, next: NextFunction): void {
  const [path = '', ...query] = request.url.split('?');
  try {
    decodeURIComponent(path);
  } catch {
    request.url = [path.replaceAll('%', '%25'), ...query].join('?');
  }
  next();
}

function createTrpcHandler(deps: RelayDeps) {
  const sessions = createSessions(deps);
  return createExpressMiddleware({
    router: createRouter(deps, sessions),
    createContext: ({ req, res }) => ({
      requestId: String(res.getHeader(REQUEST_ID)),
      wallet: sessions.walletOf(readBearer(req.headers.authorization)),
    }),
    // One call, one look at the chain: a batch would multiply what an anonymous request can cost.
    allowBatching: false,
    maxBodySize: MAX_BODY_BYTES,
    onError({ error, path, ctx, input }) {
      if (describe(error, input).code !== 'internal_error') return;
      deps.log.error(
        { request_id: ctx?.requestId, procedure: path, error: error.cause?.stack ?? error.stack },
        'fault',
      );
    },
  });
}

function answerError(deps: RelayDeps) {
  // Express knows an error middleware by its four parameters.
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    if (error instanceof ApiError) {
      sendError(response, error);
      return;
    }
    // Nobody is left to answer where the connection broke while its request came in.
    if (request.destroyed && !request.complete) return;
    const requestId = response.getHeader(REQUEST_ID);
    deps.log.error({ request_id: requestId, error: error instanceof Error ? error.stack : String(error) }, 'fault');
    sendError(response, new ApiError('internal_error', `Something went wrong here; it was logged as ${requestId}`));
  };
}

/** What Node's parser refuses never becomes a request, so the answer is written by hand. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const message =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? `The address and headers of the request must be at most ${MAX_HEADER_BYTES} bytes`
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request did not arrive in time'
        : 'This is not a valid HTTP request';
  const refusal = new ApiError('invalid_request', message);
  const body = JSON.stringify(errorBody(refusal));
  socket.end(
    [
      `HTTP/1.1 ${ERRORS[refusal.code].status} Bad Request`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `${REQUEST_ID}: ${randomUUID()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
