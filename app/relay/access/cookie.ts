/**
 * Sessions in requests: the token of auth.verify as Bearer, or the cookie of auth.signIn. An Authorization header
 * overrides the cookie. A browser adds cookies on its own, so a change by cookie must come from a page of the service
 * itself.
 */
import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { ApiError } from '../errors.ts';
import { readBearer } from './bearer.ts';
import { LONGEST_SESSION_MS, type Session, type Sessions } from './sessions.ts';

export interface CookieDeps {
  /** Public address of the service, without a trailing slash. */
  baseUrl(): string;
  sessions: Pick<Sessions, 'ofToken' | 'peek' | 'use'>;
}

/** The session of a request, without using it; null if it has no valid one. */
export async function peekSession(deps: CookieDeps, request: IncomingMessage): Promise<Session | null> {
  return (await byBearer(deps, request)) ?? deps.sessions.peek(cookieOf(deps, request));
}

/** Like `peekSession`, and extends a cookie's session. */
export async function useSession(deps: CookieDeps, request: IncomingMessage): Promise<Session | null> {
  return (await byBearer(deps, request)) ?? deps.sessions.use(cookieOf(deps, request));
}

function byBearer({ sessions }: CookieDeps, { headers }: IncomingMessage): Promise<Session | null> {
  return sessions.ofToken(readBearer(headers.authorization));
}

/** The value of the session's cookie; null if there is an Authorization header. */
export function cookieOf(deps: Pick<CookieDeps, 'baseUrl'>, { headers }: IncomingMessage): string | null {
  if (headers.authorization !== undefined || headers.cookie === undefined) return null;
  return parseCookie(headers.cookie)[cookieName(deps)] ?? null;
}

/** The header that sets a page's session; null removes it. */
export function setCookie(deps: Pick<CookieDeps, 'baseUrl'>, value: string | null): string {
  return stringifySetCookie({
    name: cookieName(deps),
    value: value ?? '',
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    // The maximum. The service may end the session earlier.
    maxAge: value === null ? 0 : LONGEST_SESSION_MS / 1_000,
    secure: isSecure(deps),
  });
}

/** The prefix binds the cookie to this host over TLS, so that no neighbouring host can set one. */
function cookieName(deps: Pick<CookieDeps, 'baseUrl'>): string {
  return isSecure(deps) ? '__Host-session' : 'session';
}

function isSecure({ baseUrl }: Pick<CookieDeps, 'baseUrl'>): boolean {
  return baseUrl().startsWith('https:');
}

/**
 * The service's public origin. A local service accepts every loopback name in the Host header. Other Host headers are
 * ignored.
 */
export function ownOrigin({ baseUrl }: Pick<CookieDeps, 'baseUrl'>, { headers }: IncomingMessage): string {
  const { origin, hostname, protocol } = new URL(baseUrl());
  if (!isLoopback(hostname) || !URL.canParse(`${protocol}//${headers.host}`)) return origin;
  const asked = new URL(`${protocol}//${headers.host}`);
  return isLoopback(asked.hostname) ? asked.origin : origin;
}

/** Throws ApiError 403 unless a page of the service's own origin sent the request. */
export function requireOwnOrigin(deps: Pick<CookieDeps, 'baseUrl'>, request: IncomingMessage): void {
  const expected = ownOrigin(deps, request);
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin === expected && site !== 'cross-site') return;
  throw new ApiError(
    'foreign_origin',
    'A request that uses or sets a session cookie must come from a page of this service',
    { details: { expected } },
  );
}

/** True if the Host header names this computer, or is missing: every browser sends one. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host === undefined || (URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname));
}

/** True for a host name of this computer, as in a URL. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
