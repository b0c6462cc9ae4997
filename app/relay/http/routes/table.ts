/**
 * The one table of REST routes. The relay's router is built from it, /openapi.json and /docs are written from it, so a
 * route cannot be undocumented, nor documented and missing.
 */
import type { ErrorCode } from '../../../sdk/wire/wire.ts';
import { agentRoutes } from './agents.ts';
import { creatorRoutes } from './creators.ts';
import { executionRoutes } from './executions.ts';
import type { Route } from './route.ts';
import { serviceRoutes } from './service.ts';

const ROUTES = { ...agentRoutes, ...executionRoutes, ...creatorRoutes, ...serviceRoutes };

export type RouteId = keyof typeof ROUTES;
export const ROUTE_IDS = Object.keys(ROUTES) as RouteId[];

export const routeOf = (id: RouteId): Route => ROUTES[id];

/** Whether a key, or what may stand for one, has to come with the request itself: then no page of another origin may ask. */
export const needsKey = ({ access }: Route): boolean => access === 'read' || access === 'execute';

const KEY_ERRORS = ['unauthorized', 'wrong_environment', 'insufficient_scope', 'address_not_allowed'] as const;

/** What every route, every one with a key, and every one with a body can answer. */
export function errorsOf(route: Route): ErrorCode[] {
  // 405 is no operation's own: it stands with each, because its reader has to learn that the address can answer it.
  const codes: ErrorCode[] = ['invalid_request', 'method_not_allowed', ...route.errors, 'internal_error'];
  // What is limited reads the database, which may be away.
  if (!route.unlimited) codes.push('rate_limited', 'service_unavailable');
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
