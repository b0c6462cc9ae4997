/**
 * /trpc for the CLI and the dashboard, a thin layer over the use cases. Schemas come from the shared contract of
 * sdk/wire/procedures.ts, and errors from the same table as those of /v1. admit.ts has checked access already.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { initTRPC, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { z } from 'zod';
import { PROCEDURES, type ProcedureName } from '../../sdk/wire/procedures.ts';
import { ERRORS, type ErrorCode, type ErrorDetails } from '../../sdk/wire/wire.ts';
import type { Session } from '../access/sessions.ts';
import { ApiError, databaseAway, internalError } from '../errors.ts';
import { explain, issuesOf } from '../parse.ts';
import { createHandlers, type ProcedureContext } from './procedures.ts';

interface Context {
  requestId: string;
  /** The session found by admit.ts; never null if the procedure requires one. */
  session: Session | null;
  request: IncomingMessage;
  response: ServerResponse;
}

/** tRPC's code for each status. Of those with the same status, the last is the general one. */
const TRPC_CODES = new Map(
  (Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPC_ERROR_CODE_KEY[]).map((code) => [
    getHTTPStatusCodeFromError(new TRPCError({ code })),
    code,
  ]),
);

/** Our code for an error of tRPC itself. */
const OWN_CODES: Partial<Record<TRPC_ERROR_CODE_KEY, ErrorCode>> = {
  BAD_REQUEST: 'invalid_request',
  PARSE_ERROR: 'invalid_request',
  UNAUTHORIZED: 'unauthorized',
  NOT_FOUND: 'not_found',
  METHOD_NOT_SUPPORTED: 'method_not_allowed',
  PAYLOAD_TOO_LARGE: 'payload_too_large',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
};

const t = initTRPC.context<Context>().create({
  errorFormatter({ shape, error, ctx, input }) {
    const requestId = ctx?.requestId ?? null;
    const reported = describe(error, input);
    const message = reported.code === 'internal_error' && requestId ? internalError(requestId) : reported.message;
    return shapeOf(shape.code, { ...reported, message }, requestId);
  },
});

interface Reported {
  code: ErrorCode;
  message: string;
  details: ErrorDetails | null;
}

function shapeOf(number: number, { code, message, details }: Reported, requestId: string | null) {
  return { code: number, message, data: { code, httpStatus: ERRORS[code].status, details, request_id: requestId } };
}

/** The body of an error before tRPC is called; the same format as tRPC's. */
export function procedureError(error: ApiError, requestId: string) {
  return { error: shapeOf(TRPC_ERROR_CODES_BY_KEY[toTrpcError(error).code], error, requestId) };
}

/** The caller's view of an error; it shows no details of our own faults. */
export function describe(error: TRPCError, input: unknown): Reported {
  const { cause } = error;
  if (cause instanceof ApiError) return { code: cause.code, message: cause.message, details: cause.details };
  if (error.code === 'BAD_REQUEST' && cause instanceof z.ZodError) {
    const details = { issues: issuesOf(cause, input, 'body') };
    return { code: 'invalid_request', message: explain(cause, input, 'body'), details };
  }
  const code = OWN_CODES[error.code] ?? 'internal_error';
  return { code, message: code === 'internal_error' ? 'Internal error' : error.message, details: null };
}

/** The tRPC error with the status of `cause`. */
function toTrpcError(cause: ApiError): TRPCError {
  return new TRPCError({ code: TRPC_CODES.get(ERRORS[cause.code].status) ?? 'INTERNAL_SERVER_ERROR', cause });
}

const procedure = t.procedure.use(async ({ next }) => {
  const result = await next();
  if (result.ok) return result;
  const { cause } = result.error;
  const told = cause instanceof ApiError ? cause : databaseAway(cause);
  if (told) throw toTrpcError(told);
  return result;
});

export function createRouter(context: ProcedureContext) {
  const handlers = createHandlers(context);
  const groups: Record<string, Record<string, ReturnType<typeof procedureOf>>> = {};
  for (const name of Object.keys(PROCEDURES) as ProcedureName[]) {
    const [group = '', leaf = ''] = name.split('.');
    groups[group] = { ...groups[group], [leaf]: procedureOf(name, handlers[name] as Handler) };
  }
  return t.router(groups);
}

/** A handler without its types, which are checked where the handlers are defined. */
type Handler = (call: Context, input: unknown) => Promise<unknown>;

function procedureOf(name: ProcedureName, handle: Handler) {
  const { kind, input, output } = PROCEDURES[name];
  const built = (input instanceof z.ZodVoid ? procedure : procedure.input(input as z.ZodType)).output(
    output as z.ZodType,
  );
  return kind === 'query'
    ? built.query(({ ctx, input }) => handle(ctx, input))
    : built.mutation(({ ctx, input }) => handle(ctx, input));
}
