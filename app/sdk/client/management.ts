/** The client of the /trpc procedures that manage keys and listings. */
import { createTRPCUntypedClient, httpLink, TRPCClientError } from '@trpc/client';
import { PROCEDURES, type ProcedureInput, type ProcedureName, type ProcedureOutput } from '../wire/procedures.ts';
import { MarketplaceError, read, readJson, retryAfterOf, unknownAnswer } from './answer.ts';

/**
 * The procedures of /trpc by name: `call('keys.register', { ... })`. `session` is the token of `auth.verify`, for
 * procedures that need one. Throws MarketplaceError.
 */
export function createManagementClient(options: { baseUrl: string; session?: string; fetch?: typeof fetch }) {
  const send = options.fetch ?? fetch;
  const client = createTRPCUntypedClient({
    links: [
      httpLink({
        url: `${options.baseUrl.replace(/\/+$/, '')}/trpc`,
        headers: options.session ? { authorization: `Bearer ${options.session}` } : {},
        async fetch(...asked: Parameters<typeof fetch>) {
          const response = await send(...asked);
          return Object.assign(response, { json: () => readJson(response) });
        },
      }),
    ],
  });
  return {
    async call<Name extends ProcedureName>(
      name: Name,
      ...[input]: undefined extends ProcedureInput<Name>
        ? [input?: Exclude<ProcedureInput<Name>, void>]
        : [ProcedureInput<Name>]
    ): Promise<ProcedureOutput<Name>> {
      const { kind, output } = PROCEDURES[name];
      try {
        const answer = kind === 'query' ? await client.query(name, input) : await client.mutation(name, input);
        return read<unknown>(output, answer) as ProcedureOutput<Name>;
      } catch (error) {
        throw error instanceof TRPCClientError ? fromProcedure(error) : error;
      }
    },
  };
}

/** The service's own error, that of a load balancer, or the reason why there was no answer. */
function fromProcedure({ message, data, meta, cause }: TRPCClientError<never>): unknown {
  const { response } = (meta ?? {}) as { response?: Response };
  const retryAfter = response ? retryAfterOf(response) : null;
  if (data) {
    const { httpStatus = 500, code = 'internal_error', request_id = null, details = null } = data as ProcedureErrorData;
    return new MarketplaceError(httpStatus, code, message, null, request_id, details, retryAfter);
  }
  if (response && !response.ok) return unknownAnswer(response);
  return cause ?? new TypeError(message);
}

interface ProcedureErrorData {
  httpStatus?: number;
  code?: string;
  request_id?: string;
  details?: Record<string, unknown>;
}
