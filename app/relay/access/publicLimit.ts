/**
 * Limits requests per address, so that crawlers cannot crowd out paying callers. Not counted is a request with a live
 * key or a session of a known wallet: one that has paid, or has a listing. Creating any other wallet is free, and the
 * deposit of its key comes back. Routes that need a key never count a live one.
 */
import type { IncomingMessage } from 'node:http';
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';
import type { Payers } from '../ledger/payers.ts';
import { findValidKey, type KeyLookup } from './auth.ts';
import { readBearer } from './bearer.ts';
import { clientNetwork } from './clientAddress.ts';
import { type CookieDeps, peekSession } from './cookie.ts';

/** While paid calls need all the time of this process, a request counts as this many. */
const BUSY_WEIGHT = 10;
/** A refused or repeated payment counts as this many more: it costs its sender nothing, and us much. */
const UNPAID_WEIGHT = 9;
/** A burst is allowed once in this many seconds, in addition to the rate. */
const BURST_SECONDS = 10;

export interface PublicRate {
  /** Requests per second of an address; 0 for no limit. */
  perSecond: number;
  /** Requests allowed at once in a burst. */
  burst: number;
}

export interface Cost {
  /** The number of ordinary requests that cost as much; default: 1. */
  weight?: number | undefined;
  /** True for a request that counts no more while many calls run: a payment, a start, a part of one to /mcp, or /ready. */
  isUrgent?: boolean | undefined;
}

export type PublicLimit = ReturnType<typeof createPublicLimit>;

export interface PublicLimitDeps extends KeyLookup, CookieDeps {
  config: {
    publicRate: PublicRate;
    /** Number of trusted proxies that append to X-Forwarded-For. */
    trustProxy: number;
  };
  payers: Pick<Payers, 'isKnown'>;
  /** True while calls are in progress that other requests would delay. */
  isBusy(): boolean;
}

export function createPublicLimit(deps: PublicLimitDeps) {
  const { publicRate, trustProxy } = deps.config;
  const isUnlimited = publicRate.perSecond === 0;
  const consume = createCounter(publicRate);

  async function take(request: IncomingMessage, { weight = 1, isUrgent = false }: Cost = {}): Promise<void> {
    const isReduced = deps.isBusy() && !isUrgent;
    await count(request, weight * (isReduced ? BUSY_WEIGHT : 1), isReduced);
  }

  async function count(request: IncomingMessage, weight: number, isReduced: boolean): Promise<void> {
    if (isUnlimited) return;
    const waitMs = await consume(clientNetwork(request, trustProxy), weight);
    if (waitMs === 0) return;
    const most = Math.ceil(publicRate.perSecond / (isReduced ? BUSY_WEIGHT : 1));
    const when = isReduced ? ' while many calls run' : '';
    throw new ApiError(
      'rate_limited',
      `Too many requests from this IP address: at most ${most} per second${when} without an API key or a session of a wallet that has paid or has a listing. Retry later.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
    );
  }

  async function walletOf(request: IncomingMessage): Promise<string | null> {
    const session = await peekSession(deps, request);
    if (session) return session.wallet;
    const token = readBearer(request.headers.authorization);
    return token === null ? null : ((await findValidKey(deps, token))?.wallet ?? null);
  }

  async function isFree(request: IncomingMessage): Promise<boolean> {
    if (isUnlimited) return true;
    const wallet = await walletOf(request);
    return wallet !== null && deps.payers.isKnown(wallet);
  }

  /** Counts the request unless it carries a known wallet's live key or session. Throws ApiError 429. */
  async function admit(request: IncomingMessage, cost?: Cost): Promise<void> {
    if (!(await isFree(request))) await take(request, cost);
  }

  // A request without an Authorization header was counted on arrival, also one with a session's cookie.
  const isBare = ({ headers }: IncomingMessage) => headers.authorization === undefined;
  return {
    admit,
    /** The same for a request without an Authorization header. Others are checked later. */
    async admitBare(request: IncomingMessage, cost?: Cost): Promise<void> {
      if (isBare(request)) await admit(request, cost);
    },
    /**
     * Counts what a request of /mcp without an Authorization header costs more while many calls run. Called once its body
     * shows that it carries no payment.
     */
    async admitUnpaid(request: IncomingMessage, weight: number): Promise<void> {
      if (!isBare(request) || !deps.isBusy() || (await isFree(request))) return;
      await count(request, weight * (BUSY_WEIGHT - 1), true);
    },
    /** Counts what a payment without an API key, or a start by a signature, costs more if nothing new was paid. */
    async countUnpaid(request: IncomingMessage): Promise<void> {
      // The answer is ready: only the next requests can be refused.
      if (!(await isFree(request))) await count(request, UNPAID_WEIGHT, false).catch(() => undefined);
    },
    /** Counts a request authenticated by a session's token, unless its wallet is known. Throws ApiError 429. */
    async admitSession(request: IncomingMessage, wallet: string, cost?: Cost): Promise<void> {
      if (!isBare(request) && !(await deps.payers.isKnown(wallet))) await take(request, cost);
    },
    /** Counts the request if `error` says that its key is invalid. Throws ApiError 429. */
    async admitRefused(request: IncomingMessage, error: unknown, cost?: Cost): Promise<void> {
      const isUnknown = error instanceof ApiError && ['unauthorized', 'wrong_environment'].includes(error.code);
      if (isUnknown && !isBare(request)) await take(request, cost);
    },
  };
}

/** Counts a request of `name`. Returns the milliseconds until the next one is admitted, or 0 if this one is. */
function createCounter({ perSecond, burst }: PublicRate) {
  const steady = new RateLimiterMemory({ points: perSecond, duration: 1 });
  const beyond = new RateLimiterMemory({ points: Math.max(0, burst - perSecond), duration: BURST_SECONDS });
  const limiter = new BurstyRateLimiter(steady, beyond);
  return async (name: string, weight: number): Promise<number> => {
    try {
      // More than the rate could never be admitted.
      await limiter.consume(name, Math.min(weight, perSecond));
      return 0;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return Math.max(1, refusal.msBeforeNext);
      throw refusal;
    }
  };
}
