/**
 * What stands before tRPC: the limit, whether there is such a procedure, its method, whose page sent it, whose session it
 * carries, and only then its body, read as those of /v1 are, because tRPC itself would take any depth and repeated names,
 * and parse them before it looks for the procedure.
 */
import type { NextFunction, Request, Response } from 'express';
import type { ProcedureEntry } from '../../sdk/wire/fields.ts';
import { PROCEDURES, type ProcedureName } from '../../sdk/wire/procedures.ts';
import { requireAdmin } from '../access/admin.ts';
import { cookieOf, peekSession, requireOwnOrigin, useSession } from '../access/cookie.ts';
import type { PublicLimit } from '../access/publicLimit.ts';
import type { Session } from '../access/sessions.ts';
import { ApiError, databaseAway } from '../errors.ts';
import { JsonError, parseJson } from '../json.ts';
import { jsonFault } from '../parse.ts';
import type { ProcedureContext } from './procedures.ts';
import { readJsonBody } from './request.ts';
import { REQUEST_ID, sendError } from './respond.ts';
import { procedureError } from './trpc.ts';

/** Of a procedure's body: management needs little, and a stranger's bytes are parsed before anything is known of them. */
const MAX_PROCEDURE_BYTES = 32 * 1024;
/** What a management call says is little, and the large ones hold one long text. */
const MAX_PROCEDURE_VALUES = 5_000;
/** What gives a page its session and takes it away: a foreign page could otherwise sign people in and out. */
const OF_PAGES: readonly ProcedureName[] = ['auth.signIn', 'auth.signOut'];

/** What `response.locals` carries on to tRPC. */
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
      requireMethod(request, response, entry);
      requirePage(context, request, name);
      const session = await requireSession(context, request, entry);
      Object.assign(response.locals, { session } satisfies Admitted);
      if (entry.kind === 'mutation') {
        const bytes = await readJsonBody(request, maxBytesOf(entry));
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
    throw new ApiError('invalid_request', 'Call one procedure at a time: batches are not accepted');
  throw new ApiError('not_found', `There is no procedure ${JSON.stringify(name.slice(0, 60))}`);
}

function requireMethod(request: Request, response: Response, { kind }: ProcedureEntry): void {
  const method = kind === 'mutation' ? 'POST' : 'GET';
  if (request.method === method || (request.method === 'HEAD' && method === 'GET')) return;
  response.setHeader('Allow', method);
  const details = { allowed: [method] };
  throw new ApiError('method_not_allowed', `${request.method} is not allowed here; use ${method}`, { details });
}

/** A cookie comes by itself, whoever made the page: what may change something by it must come from a page of ours. */
function requirePage({ deps }: ProcedureContext, request: Request, name: ProcedureName): void {
  const byCookie = PROCEDURES[name].kind === 'mutation' && cookieOf(deps, request) !== null;
  if (byCookie || OF_PAGES.includes(name)) requireOwnOrigin(deps, request);
}

/** Throws ApiError 401 without the session that the procedure needs, 403 without the admin's. */
async function requireSession(
  { deps, admin }: ProcedureContext,
  request: Request,
  { access }: ProcedureEntry,
): Promise<Session | null> {
  // To be asked who one is keeps no session alive.
  if (access === 'public') return peekSession(deps, request);
  const session = await useSession(deps, request);
  if (!session) {
    throw new ApiError('unauthorized', 'Sign in, or send the token of auth.verify as Authorization: Bearer <token>');
  }
  if (access === 'admin') await requireAdmin(admin, session.wallet);
  return session;
}
