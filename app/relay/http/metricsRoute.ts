/** GET /metrics: checks who may read the relay's figures. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import { readBearer } from '../access/bearer.ts';
import { isThisComputer } from '../access/clientAddress.ts';
import { isLoopbackHost } from '../access/cookie.ts';
import { ApiError } from '../errors.ts';
import type { RelayDeps } from './deps.ts';
import { sendBytes } from './respond.ts';

interface MetricsRouteDeps {
  config: Pick<RelayDeps['config'], 'metricsToken'>;
  metrics: RelayDeps['metrics'];
}

/** Handles every request to /metrics. */
export function answerMetrics(deps: MetricsRouteDeps) {
  return async (request: Request, response: Response): Promise<void> => {
    requireAccess(request, deps.config.metricsToken);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      const details = { allowed: ['GET', 'HEAD'] };
      throw new ApiError('method_not_allowed', `${request.method} is not allowed for this path. Use GET, HEAD.`, {
        details,
      });
    }
    const text = await deps.metrics.render();
    response.setHeader('Cache-Control', 'no-store');
    sendBytes(response, 200, [Buffer.from(text)], Registry.PROMETHEUS_CONTENT_TYPE);
  };
}

/** With a token, its holders may read. Without one, only this computer may, and no client behind a proxy on it. */
function requireAccess(request: Request, token: string | null): void {
  if (token !== null) {
    const given = readBearer(request.headers.authorization);
    if (given !== null && timingSafeEqual(digest(given), digest(token))) return;
    throw new ApiError(
      'unauthorized',
      'The metrics token is missing or wrong. Send the header Authorization: Bearer <METRICS_TOKEN>.',
    );
  }
  // A page of another site can reach this computer under that site's host name (DNS rebinding).
  if (isThisComputer(request) && isLoopbackHost(request.headers.host)) return;
  throw new ApiError('not_found', 'No route has the path /metrics');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
