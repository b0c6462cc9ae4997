/** The /trpc procedures of sessions, keys, listings, disputes and operation, which the page and the CLI call. */
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../wire/procedures.ts';
import type { Client } from './client.ts';
import { CALLS } from './generated.ts';
import { jsonOf, requireFields, unknownAnswer } from './http.ts';

/**
 * Calls procedures by name: `call('keys.register', { ... })`. Those of a wallet need a client whose key is the token of
 * `auth.verify`. Some changes test a creator's server before they answer, so changes have no time limit.
 */
export function createManagement({ askPath }: Pick<Client, 'askPath'>) {
  return {
    /** The procedure's answer. Throws UnexpectedAnswerError if it is not the procedure's. */
    async call<Name extends ProcedureName>(
      name: Name,
      ...[input]: undefined extends ProcedureInput<Name>
        ? [input?: Exclude<ProcedureInput<Name>, void>]
        : [ProcedureInput<Name>]
    ): Promise<ProcedureOutput<Name>> {
      const { method, fields } = CALLS[name];
      const path = `/trpc/${name}`;
      const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`;
      const answer = await askPath({
        method,
        ...(method === 'GET'
          ? { path: path + query }
          : {
              path,
              body: input,
              headers: { 'content-type': 'application/json' },
              timeout: Number.POSITIVE_INFINITY,
            }),
      });
      const { result } = (jsonOf(answer) ?? {}) as { result?: { data?: unknown } };
      if (!result) throw unknownAnswer(answer.response);
      return requireFields(answer, name, result.data, fields) as ProcedureOutput<Name>;
    },
  };
}
