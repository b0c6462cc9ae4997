/** The client of the /trpc procedures that manage keys and listings. */
import { PROCEDURES, type ProcedureInput, type ProcedureName, type ProcedureOutput } from '../wire/procedures.ts';
import { checkedUrl } from '../wire/secrets.ts';
import { read } from './answer.ts';
import { type MarketplaceError, statusError } from './error.ts';
import { checkedHeaders, fetchDirect, jsonOf, retryAfterOf, unknownAnswer } from './http.ts';

/** An answer in tRPC's format. */
interface ProcedureAnswer {
  result?: { data?: unknown };
  error?: {
    message?: string;
    data?: {
      httpStatus?: number;
      code?: string;
      request_id?: string;
      details?: Record<string, unknown>;
    };
  };
}

/**
 * The procedures of /trpc by name: `call('keys.register', { ... })`. `session` is the token of `auth.verify`, for
 * procedures that need one. Throws TypeError for a wrong address. `call` throws MarketplaceError.
 */
export function createManagementClient(options: { baseUrl: string; session?: string; fetch?: typeof fetch }) {
  const baseUrl = checkedUrl(options.baseUrl);
  const session = checkedHeaders(options.session ? { authorization: `Bearer ${options.session}` } : {});

  const send = (path: string, init: RequestInit) => fetchDirect(options.fetch ?? fetch, baseUrl, `/trpc/${path}`, init);

  function ask(name: ProcedureName, input: unknown): Promise<Response> {
    const text = input === undefined ? null : JSON.stringify(input);
    if (PROCEDURES[name].kind === 'query') {
      return send(`${name}${text === null ? '' : `?input=${encodeURIComponent(text)}`}`, { headers: session });
    }
    const headers = { ...session, 'content-type': 'application/json' };
    return send(name, { method: 'POST', headers, body: text });
  }

  return {
    async call<Name extends ProcedureName>(
      name: Name,
      ...[input]: undefined extends ProcedureInput<Name>
        ? [input?: Exclude<ProcedureInput<Name>, void>]
        : [ProcedureInput<Name>]
    ): Promise<ProcedureOutput<Name>> {
      const response = await ask(name, input);
      const answer = (jsonOf({ response, text: await response.text() }) ?? {}) as ProcedureAnswer;
      if (response.ok && answer.result) {
        return read<unknown>(PROCEDURES[name].output, answer.result.data) as ProcedureOutput<Name>;
      }
      throw toProcedureError(response, answer);
    },
  };
}

/** The service's own error, or that of a load balancer. */
function toProcedureError(response: Response, { error }: ProcedureAnswer): MarketplaceError {
  if (!error?.data) return unknownAnswer(response);
  const { httpStatus = 500, code = 'internal_error', request_id = null, details = null } = error.data;
  const retryAfter = retryAfterOf(response);
  return statusError(httpStatus, code, error.message ?? code, null, request_id, details, retryAfter);
}
