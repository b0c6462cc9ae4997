/** The /trpc procedures of sessions, keys, listings, disputes and operation, which the page and the CLI call. */
import type * as z from 'zod';
import { PROCEDURES, type ProcedureInput, type ProcedureName, type ProcedureOutput } from '../wire/procedures.ts';
import type { Client } from './client.ts';
import { jsonOf, unknownAnswer } from './http.ts';

/**
 * Calls procedures by name: `call('keys.register', { ... })`. Those of a wallet need a client whose key is the token of
 * `auth.verify`. Some changes test a creator's server before they answer, so changes have no time limit.
 */
export function createManagement({ askPath }: Pick<Client, 'askPath'>) {
  return {
    async call<Name extends ProcedureName>(
      name: Name,
      ...[input]: undefined extends ProcedureInput<Name>
        ? [input?: Exclude<ProcedureInput<Name>, void>]
        : [ProcedureInput<Name>]
    ): Promise<ProcedureOutput<Name>> {
      const path = `/trpc/${name}`;
      const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`;
      const answer = await askPath({
        ...(PROCEDURES[name].kind === 'query'
          ? { method: 'GET', path: path + query }
          : {
              method: 'POST',
              path,
              body: input,
              headers: { 'content-type': 'application/json' },
              timeout: Number.POSITIVE_INFINITY,
            }),
      });
      const { result } = (jsonOf(answer) ?? {}) as { result?: { data?: unknown } };
      if (!result) throw unknownAnswer(answer.response);
      return read<unknown>(PROCEDURES[name].output, result.data) as ProcedureOutput<Name>;
    },
  };
}

/**
 * Returns the answer without fields unknown to its schema. Throws ZodError if a field is missing or has another type.
 */
function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const { error, data } = schema.safeParse(answer);
  if (!error) return data as T;
  const known = structuredClone(answer);
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') throw error;
    // biome-ignore lint/suspicious/noExplicitAny: the path leads to an object, or there would be another issue
    const object = issue.path.reduce((value: any, key) => value[key], known);
    for (const key of issue.keys) delete object[key];
  }
  return schema.parse(known);
}
