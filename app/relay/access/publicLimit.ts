/**
 * Limits requests without an API key per address, so that no crawler takes the service from those who pay. A request
 * with a valid key or session is never counted. An invalid one is counted, or a made-up header would avoid the limit.
 */
import type { IncomingMessage } from 'node:http';
import { BurstyRateLimiter, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';
import type { Limits } from '../ledger/limits.ts';
import { isRegistered, type KeyLookup } from './auth.ts';
import { readBearer } from './bearer.ts';
import { clientAddress, networkOf } from './clientAddress.ts';
import { type CookieDeps, peekSession } from './cookie.ts';

/** A burst is allowed once in this many seconds, in addition to the rate. */
const BURST_SECONDS = 10;

export interface PublicRate {
  /** Requests per second of an address; 0 for any number. */
  perSecond: number;
  /** Requests allowed at once in a burst. */
  burst: number;
}

export interface PublicLimit {
  /** Counts the request unless it carries a valid key or session. Throws ApiError 429. */
  admit(request: IncomingMessage): Promise<void>;
  /** Counts the request if it carries nothing; credentials are checked later. Throws ApiError 429. */
  admitBare(request: IncomingMessage): Promise<void>;
  /** Counts a request whose key proved invalid, judged by its error. Throws ApiError 429. */
  admitRefused(request: IncomingMessage, error: unknown): Promise<void>;
}

export interface PublicLimitDeps extends KeyLookup, CookieDeps {
  config: {
    publicRate: PublicRate;
    /** Number of trusted proxies that append to X-Forwarded-For. */
    trustProxy: number;
  };
  limits: Limits;
}

export function createPublicLimit(deps: PublicLimitDeps): PublicLimit {
  const { publicRate, trustProxy } = deps.config;
  const consume = createCounter(publicRate, deps.limits);

  async function take(request: IncomingMessage): Promise<void> {
    const waitMs = await consume(networkOf(clientAddress(request, trustProxy)));
    if (waitMs === 0) return;
    throw new ApiError(
      'rate_limited',
      `More than ${publicRate.perSecond} requests per second without a valid API key came from this IP address. Retry later or send a key.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
    );
  }

  return {
    async admit(request) {
      const token = readBearer(request.headers.authorization);
      const isKnown =
        (await peekSession(deps, request)) !== null || (token !== null && (await isRegistered(deps, token)));
      if (!isKnown) await take(request);
    },
    async admitBare(request) {
      if (request.headers.authorization === undefined && !(await peekSession(deps, request))) await take(request);
    },
    async admitRefused(request, error) {
      const isUnknown = error instanceof ApiError && ['unauthorized', 'wrong_environment'].includes(error.code);
      // A request without credentials was counted on arrival.
      if (isUnknown && request.headers.authorization !== undefined) await take(request);
    },
  };
}

/** Counts one request of `name`. Returns the milliseconds until the next one is admitted, or 0 if this one is. */
function createCounter({ perSecond, burst }: PublicRate, limits: Limits): (name: string) => Promise<number> {
  if (perSecond === 0) return async () => 0;
  const steady = limits.counter('steady', { points: perSecond, duration: 1 });
  const beyond = limits.counter('beyond', { points: Math.max(0, burst - perSecond), duration: BURST_SECONDS });
  const limiter = new BurstyRateLimiter(steady, beyond);
  return async (name) => {
    try {
      await limiter.consume(name);
      return 0;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return Math.max(1, refusal.msBeforeNext);
      throw refusal;
    }
  };
}
