/**
 * Limits requests per address, so that crawlers cannot crowd out paying callers. Not counted is a request with a live
 * key, which nobody has without a deposit on the chain, or with a session of a known wallet: one that has paid, or has a
 * listing. Creating any other wallet is free.
 */
import type { IncomingMessage } from 'node:http';
import { BurstyRateLimiter, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';
import type { Limits } from '../ledger/limits.ts';
import type { Payers } from '../ledger/payers.ts';
import { isLiveKey, type KeyLookup } from './auth.ts';
import { readBearer } from './bearer.ts';
import { clientNetwork } from './clientAddress.ts';
import { type CookieDeps, peekSession } from './cookie.ts';

/** A burst is allowed once in this many seconds, in addition to the rate. */
const BURST_SECONDS = 10;

export interface PublicRate {
  /** Requests per second of an address; 0 for no limit. */
  perSecond: number;
  /** Requests allowed at once in a burst. */
  burst: number;
}

export interface PublicLimit {
  /** Counts the request unless it carries a live key or a known wallet's session. Throws ApiError 429. */
  admit(request: IncomingMessage): Promise<void>;
  /** Counts the request if it carries no credentials; those are checked later. Throws ApiError 429. */
  admitBare(request: IncomingMessage): Promise<void>;
  /** Counts a request authenticated by a session of this wallet, unless the wallet is known. Throws ApiError 429. */
  admitSession(request: IncomingMessage, wallet: string): Promise<void>;
  /** Counts the request if `error` says that its key is invalid. Throws ApiError 429. */
  admitRefused(request: IncomingMessage, error: unknown): Promise<void>;
}

export interface PublicLimitDeps extends KeyLookup, CookieDeps {
  config: {
    publicRate: PublicRate;
    /** Number of trusted proxies that append to X-Forwarded-For. */
    trustProxy: number;
  };
  limits: Limits;
  payers: Pick<Payers, 'isKnown'>;
}

export function createPublicLimit(deps: PublicLimitDeps): PublicLimit {
  const { publicRate, trustProxy } = deps.config;
  const consume = createCounter(publicRate, deps.limits);

  async function take(request: IncomingMessage): Promise<void> {
    const waitMs = await consume(clientNetwork(request, trustProxy));
    if (waitMs === 0) return;
    throw new ApiError(
      'rate_limited',
      `Too many requests from this IP address: at most ${publicRate.perSecond} per second without an API key, or a session of a wallet that has paid or has a listing. Retry later.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
    );
  }

  async function hasKey(request: IncomingMessage): Promise<boolean> {
    const token = readBearer(request.headers.authorization);
    return token !== null && (await isLiveKey(deps, token));
  }

  async function takeUnlessKnown(request: IncomingMessage, wallet: string): Promise<void> {
    if (!(await deps.payers.isKnown(wallet))) await take(request);
  }

  if (publicRate.perSecond === 0) {
    const admitted = async () => undefined;
    return { admit: admitted, admitBare: admitted, admitSession: admitted, admitRefused: admitted };
  }
  return {
    async admit(request) {
      const session = await peekSession(deps, request);
      if (session) await takeUnlessKnown(request, session.wallet);
      else if (!(await hasKey(request))) await take(request);
    },
    admitSession: takeUnlessKnown,
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
