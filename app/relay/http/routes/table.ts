/**
 * The one table of REST routes. The router, /openapi.json and /docs are built from it. A route therefore cannot be
 * undocumented, or documented and missing.
 */
import type { ErrorCode } from '../../../sdk/wire/wire.ts';
import { agentRoutes } from './agents.ts';
import { archiveRoutes } from './archives.ts';
import { callRoutes } from './calls.ts';
import { creatorRoutes } from './creators.ts';
import { eventRoutes } from './events.ts';
import { executionRoutes } from './executions.ts';
import { keyRoutes } from './keys.ts';
import type { Route } from './route.ts';
import { serviceRoutes } from './service.ts';
import { statementRoutes } from './statements.ts';
import { webhookRoutes } from './webhooks.ts';

const ROUTES = {
  ...agentRoutes,
  ...callRoutes,
  ...executionRoutes,
  ...archiveRoutes,
  ...keyRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...statementRoutes,
  ...creatorRoutes,
  ...serviceRoutes,
};

export type RouteId = keyof typeof ROUTES;
export const ROUTE_IDS = Object.keys(ROUTES) as RouteId[];

export const routeOf = (id: RouteId): Route => ROUTES[id];

/** True if the request must carry a key or a session. Then no page of another origin may send it. */
export const needsKey = ({ access }: Route): boolean => access !== 'public' && access !== 'wallet';

const KEY_ERRORS = ['unauthorized', 'wrong_environment', 'insufficient_scope', 'address_not_allowed'] as const;

/** All errors of a route: its own, those of every route, and those of a key and a body if it has them. */
export function errorsOf(route: Route): ErrorCode[] {
  // Every route can return 405, so clients find it with each.
  const codes: ErrorCode[] = ['invalid_request', 'method_not_allowed', ...route.errors, 'internal_error'];
  // A limited route reads the database, which may be unreachable.
  if (!route.unlimited) codes.push('rate_limited', 'service_unavailable');
  if (route.params) codes.push('not_found');
  if (route.access !== 'public') codes.push(...KEY_ERRORS);
  if (route.body) codes.push('payload_too_large', 'unsupported_media_type');
  return [...new Set(codes)];
}

/** Methods of a path for `Allow`. */
export function methodsOf(path: string): string[] {
  const methods = ROUTE_IDS.map(routeOf).flatMap((route) => (route.path === path ? [route.method] : []));
  return [...methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])), 'OPTIONS'];
}
