/**
 * Checks before tRPC: rate limit, existence of the procedure, method, origin, session, and only then the body. The body
 * is read like those of /v1. tRPC itself would accept any depth and repeated names, and parse the body before it finds
 * the procedure.
 */
import type { NextFunction, Request, Response } from 'express';
import type { ProcedureEntry } from '../../sdk/wire/fields.ts';
import { PROCEDURES, type ProcedureName } from '../../sdk/wire/procedures.ts';
import { requireAdmin } from '../access/admin.ts';
import { askerOf } from '../access/asker.ts';
import { cookieOf, peekSession, requireOwnOrigin, useSession } from '../access/cookie.ts';
import type { PublicLimit } from '../access/publicLimit.ts';
import type { Session } from '../access/sessions.ts';
import { ApiError, databaseAway } from '../errors.ts';
import { JsonError, parseJson } from '../json.ts';
import { invalid, jsonFault } from '../parse.ts';
import type { ProcedureContext } from './procedures.ts';
import { readJsonBody, requireMethod } from './request.ts';
import { REQUEST_ID, sendError } from './respond.ts';
import { procedureError } from './trpc.ts';

/** Maximum body of a procedure, bytes: management needs little, and public procedures parse anybody's bytes. */
const MAX_PROCEDURE_BYTES = 32 * 1024;
/** Management calls are small; the large ones hold one long text. */
const MAX_PROCEDURE_VALUES = 5_000;
/**
 * Procedures that set or remove a page's session cookie. They require our own origin: otherwise a foreign page could
 * sign people in and out. With a token, `auth.signOut` does not touch the cookie.
 */
const OF_PAGES: readonly ProcedureName[] = ['auth.signIn', 'auth.signOut'];

/** The part of `response.locals` for tRPC. */
export interface Admitted {
  session: Session | null;
}

export function admitProcedure(context: ProcedureContext, limit: PublicLimit) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    try {
      await limit.admit(request);
      const name = requireProcedure(request.path.slice(1));
      const entry: ProcedureEntry = PROCEDURES[name];
      // A query answers HEAD too, which `Allow` need not name.
      const method = entry.kind === 'mutation' ? 'POST' : 'GET';
      if (method === 'POST' || request.method !== 'HEAD') requireMethod(request, response, [method], 'procedure');
      requirePage(context, request, name);
      const session = await requireSession(context, request, entry);
      Object.assign(response.locals, { session } satisfies Admitted);
      if (entry.kind === 'mutation') {
        const ask = () => askerOf(context.deps, request, session?.wallet ?? null);
        const bytes = await readJsonBody(request, maxBytesOf(entry), ask);
        if (bytes.length > 0) parseJson(bytes, { maxValues: MAX_PROCEDURE_VALUES });
        request.body = bytes.toString('utf8');
      }
    } catch (error) {
      const refusal = error instanceof JsonError ? jsonFault(error, 'a JSON value') : (databaseAway(error) ?? error);
      if (!(refusal instanceof ApiError)) throw error;
      sendError(response, refusal, procedureError(refusal, String(response.getHeader(REQUEST_ID))));
      return;
    }
    next();
  };
}

export function maxBytesOf({ maxBytes = MAX_PROCEDURE_BYTES }: ProcedureEntry): number {
  return maxBytes;
}

function requireProcedure(name: string): ProcedureName {
  if (Object.hasOwn(PROCEDURES, name)) return name as ProcedureName;
  if (name.includes(','))
    throw invalid('Batch requests are not supported. Call one procedure per request.', {
      in: 'query',
      path: '',
      expected: 'must be one procedure per request',
      got: 'several',
    });
  throw new ApiError('not_found', `Unknown procedure ${JSON.stringify(name.slice(0, 60))}`);
}

/** A browser sends a cookie for any page. A change by cookie must therefore come from our own page. */
function requirePage({ deps }: ProcedureContext, request: Request, name: ProcedureName): void {
  const byCookie = PROCEDURES[name].kind === 'mutation' && cookieOf(deps, request) !== null;
  const endsToken = name === 'auth.signOut' && request.headers.authorization !== undefined;
  if (byCookie || (OF_PAGES.includes(name) && !endsToken)) requireOwnOrigin(deps, request);
}

/** Throws ApiError 401 without the required session, 403 without the admin's. */
async function requireSession(
  { deps, admin }: ProcedureContext,
  request: Request,
  { access }: ProcedureEntry,
): Promise<Session | null> {
  // A request that only reads the current session must not extend it.
  if (access === 'public') return peekSession(deps, request);
  const session = await useSession(deps, request);
  if (!session) {
    throw new ApiError(
      'unauthorized',
      'The session is missing or has ended. Sign in, or send the token of auth.verify as Authorization: Bearer <token>.',
    );
  }
  if (access === 'admin') await requireAdmin(admin, session.wallet);
  return session;
}
