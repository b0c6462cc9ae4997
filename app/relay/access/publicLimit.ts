/**
 * How much one address may ask for without an API key, so that nobody's crawler takes the service from those who pay. Who
 * carries a key or session that is good is never counted; who carries another is counted like anybody, or a made-up
 * header would be the way around.
 */
import type { IncomingMessage } from 'node:http';
import { BurstyRateLimiter, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';
import type { Limits } from '../ledger/limits.ts';
import { isRegistered, type KeyLookup } from './auth.ts';
import { readBearer } from './bearer.ts';
import { clientAddress, networkOf } from './clientAddress.ts';
import { type CookieDeps, peekSession } from './cookie.ts';

/** A burst can be had once in so many seconds; the rate goes on beside it. */
const BURST_SECONDS = 10;

export interface PublicRate {
  /** Requests that an address may send every second; 0 for any number. */
  perSecond: number;
  /** Requests that it may send at once, now and then. */
  burst: number;
}

export interface PublicLimit {
  /** Counts the request unless it carries a good key or session. Throws ApiError 429. */
  admit(request: IncomingMessage): Promise<void>;
  /** Counts it if it carries nothing: whether what it carries is good shows later. Throws ApiError 429. */
  admitBare(request: IncomingMessage): Promise<void>;
  /** Counts a request whose key turned out to be none, by the error that it would get. Throws ApiError 429. */
  admitRefused(request: IncomingMessage, error: unknown): Promise<void>;
}

export interface PublicLimitDeps extends KeyLookup, CookieDeps {
  config: {
    publicRate: PublicRate;
    /** Proxies in front whose X-Forwarded-For is believed. */
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
      `More than ${publicRate.perSecond} requests a second without a valid API key came from this address`,
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
      // A request that carried nothing was counted when it came.
      if (isUnknown && request.headers.authorization !== undefined) await take(request);
    },
  };
}

/** Counts one request of `name`; the milliseconds until the next is taken, 0 where this one is. */
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
