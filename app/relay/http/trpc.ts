/**
 * /trpc: management of keys and listings for the CLI and the dashboard, a thin skin over the use-cases. Schemas are the
 * shared contract of sdk/procedures.ts; errors come from the same table as those of /v1.
 */
import { initTRPC, TRPCError } from '@trpc/server';
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { z } from 'zod';
import { type Config, findTreasury, PROGRAM_ID, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import { STANDARD_TAGS } from '../../sdk/wire/metadata.ts';
import { type MarketplaceConfig, PROCEDURES } from '../../sdk/wire/procedures.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ERRORS, type ErrorCode, type ErrorDetails } from '../../sdk/wire/wire.ts';
import { listKeys, registerKey, revokeKey, updateKey } from '../access/keys.ts';
import { createTrialLimits, tryListing } from '../agents/trial.ts';
import type { RelayDeps } from '../deps.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import { explain, issuesOf } from '../parse.ts';
import { shareReading } from '../shareReading.ts';

export interface Context {
  requestId: string;
  /** The wallet of the session, where the request carries its token. */
  wallet: string | null;
}

const TRPC_CODES: Record<number, TRPC_ERROR_CODE_KEY> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};

/** Our code for an error that tRPC itself made. */
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
    const { code, message, details } = describe(error, input);
    return shapeOf(shape.code, { code, message, details }, ctx?.requestId ?? null);
  },
});

interface Told {
  code: ErrorCode;
  message: string;
  details: ErrorDetails | null;
}

function shapeOf(number: number, { code, message, details }: Told, requestId: string | null) {
  return { code: number, message, data: { code, httpStatus: ERRORS[code].status, details, request_id: requestId } };
}

/** The body of an error that is found before tRPC is asked: the same as tRPC's. */
export function procedureError(error: ApiError, requestId: string) {
  return { error: shapeOf(TRPC_ERROR_CODES_BY_KEY[toTrpcError(error).code], error, requestId) };
}

/** What a caller is told of an error; of a fault of ours, nothing. */
export function describe(error: TRPCError, input: unknown): Told {
  const { cause } = error;
  if (cause instanceof ApiError) return { code: cause.code, message: cause.message, details: cause.details };
  if (error.code === 'BAD_REQUEST' && cause instanceof z.ZodError) {
    const details = { issues: issuesOf(cause, input, 'body') };
    return { code: 'invalid_request', message: explain(cause, input, 'body'), details };
  }
  const code = OWN_CODES[error.code] ?? 'internal_error';
  const message = code === 'internal_error' ? 'Something went wrong here; it was logged' : error.message;
  return { code, message, details: null };
}

const procedure = t.procedure.use(async ({ next }) => {
  const result = await next();
  if (!result.ok && result.error.cause instanceof ApiError) {
    throw toTrpcError(result.error.cause);
  }
  return result;
});

/** The error by which tRPC answers with the status of `cause`. */
function toTrpcError(cause: ApiError): TRPCError {
  return new TRPCError({ code: TRPC_CODES[ERRORS[cause.code].status] ?? 'INTERNAL_SERVER_ERROR', cause });
}

const sessionProcedure = procedure.use(({ ctx, next }) => {
  if (ctx.wallet === null) {
    throw new ApiError('unauthorized', 'Send the token of auth.verify as Authorization: Bearer <token>');
  }
  return next({ ctx: { ...ctx, wallet: ctx.wallet } });
});

export function createRouter(deps: RelayDeps) {
  const { sessions } = deps;
  const trialLimits = createTrialLimits();
  const shape = PROCEDURES;
  const readConfig = shareReading(() => deps.accounts.readConfig(), deps.now);
  return t.router({
    config: t.router({
      get: procedure.output(shape['config.get'].output).query(() => readMarketplace(deps, readConfig)),
    }),
    auth: t.router({
      challenge: procedure
        .input(shape['auth.challenge'].input)
        .output(shape['auth.challenge'].output)
        .mutation(({ input }) => sessions.challenge(input.wallet, deps.baseUrl())),
      verify: procedure
        .input(shape['auth.verify'].input)
        .output(shape['auth.verify'].output)
        .mutation(({ input }) => sessions.verify(input)),
    }),
    keys: t.router({
      register: procedure
        .input(shape['keys.register'].input)
        .output(shape['keys.register'].output)
        .mutation(({ ctx, input }) => registerKey(deps, ctx.wallet, input)),
      list: sessionProcedure.output(shape['keys.list'].output).query(({ ctx }) => listKeys(deps, ctx.wallet)),
      update: sessionProcedure
        .input(shape['keys.update'].input)
        .output(shape['keys.update'].output)
        .mutation(({ ctx, input }) => updateKey(deps, ctx.wallet, input)),
      revoke: sessionProcedure
        .input(shape['keys.revoke'].input)
        .output(shape['keys.revoke'].output)
        .mutation(({ ctx, input }) => revokeKey(deps, ctx.wallet, input.key_id)),
    }),
    listings: t.router({
      test: sessionProcedure
        .input(shape['listings.test'].input)
        .output(shape['listings.test'].output)
        .mutation(({ ctx, input }) => tryListing(deps, trialLimits, ctx.wallet, input)),
    }),
  });
}

/** From the chain itself, as it was at most 2 s ago, because creators and wallets sign by these figures. */
async function readMarketplace(deps: RelayDeps, readConfig: () => Promise<Config>): Promise<MarketplaceConfig> {
  const config = await readConfig().catch(chainUnreadable);
  return {
    environment: deps.config.environment,
    program_id: PROGRAM_ID.toBase58(),
    usdc_mint: config.usdcMint.toBase58(),
    genesis_hash: deps.genesisHash,
    admin: config.admin.toBase58(),
    relay_authorities: relayAuthoritiesOf(config).map(String),
    treasury: findTreasury().toBase58(),
    rpc_url: deps.config.publicRpcUrl,
    explorer_query: deps.explorerQuery,
    egress_ips: deps.config.egressIps,
    fee_bps: config.feeBps,
    min_price_usdc: toUsdc(config.minPrice),
    max_timeout_seconds: config.maxTimeoutSeconds,
    dispute_window_seconds: config.disputeWindowSeconds,
    dispute_bond_lamports: Number(config.disputeBondLamports),
    collateral_tiers: config.tiers
      .slice(0, config.tierCount)
      .map((tier) => ({ max_price_usdc: toUsdc(tier.maxPrice), deposit_usdc: toUsdc(tier.deposit) })),
    standard_tags: [...STANDARD_TAGS],
  };
}
