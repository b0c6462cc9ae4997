/** GET /metrics: checks who may read the relay's figures. */
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import { readBearer } from '../access/bearer.ts';
import { isThisComputer } from '../access/clientAddress.ts';
import { isLoopbackHost } from '../access/cookie.ts';
import { isSameSecret } from '../digest.ts';
import { ApiError } from '../errors.ts';
import type { RelayDeps } from './deps.ts';
import { requireMethod } from './request.ts';
import { sendBytes } from './respond.ts';

/** Handles every request to /metrics. */
export function answerMetrics(deps: Pick<RelayDeps, 'config' | 'metrics'>) {
  return async (request: Request, response: Response): Promise<void> => {
    requireAccess(request, deps.config.metricsToken);
    requireMethod(request, response, ['GET', 'HEAD']);
    const text = await deps.metrics.render();
    response.setHeader('Cache-Control', 'no-store');
    sendBytes(response, 200, [Buffer.from(text)], Registry.PROMETHEUS_CONTENT_TYPE);
  };
}

/** With a token, its holders may read. Without one, only this computer may, and no client behind a proxy on it. */
function requireAccess(request: Request, token: string | null): void {
  if (token !== null) {
    const given = readBearer(request.headers.authorization);
    if (given !== null && isSameSecret(given, token)) return;
    throw new ApiError(
      'unauthorized',
      'The metrics token is missing or wrong. Send the header Authorization: Bearer <METRICS_TOKEN>.',
    );
  }
  // A page of another site can reach this computer under that site's host name (DNS rebinding).
  if (isThisComputer(request) && isLoopbackHost(request.headers.host)) return;
  throw new ApiError('not_found', 'No route has the path /metrics');
}
