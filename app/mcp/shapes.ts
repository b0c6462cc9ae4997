/** Input fields and output schemas that several tools share. A model reads every description with each request. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { ADDRESS } from '../sdk/wire/fields.ts';
import { isUsdc } from '../sdk/wire/usdc.ts';
import type { Execution } from './market.ts';
import { creatorsWords, wordsIn } from './words.ts';

type Direction = 'input' | 'output';

/** A schema of a tool. Its JSON form, which every list of tools contains, is made only once. */
export function listed<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const own = schema['~standard'] as StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>>['~standard'];
  const made = new Map<Direction, Record<string, unknown>>();
  const once = (io: Direction): (typeof own)['jsonSchema'][Direction] => {
    return (options) => {
      const json = made.get(io) ?? own.jsonSchema[io](options);
      made.set(io, json);
      return json;
    };
  };
  return { '~standard': { ...own, jsonSchema: { input: once('input'), output: once('output') } } };
}

export const AgentId = z.string().regex(ADDRESS, 'must be an agent_id from search_agents');
export const ExecutionId = z.uuid('must be an execution_id');
export const MaxCost = z
  .number()
  .refine(isUsdc, 'must be an amount of USDC with at most 6 decimal places')
  .describe('Maximum price, USDC; a higher price is refused. Read the price with describe_agent or quote.');
export const IdempotencyKey = z
  .string()
  .regex(/^[!-~]{1,255}$/)
  .optional()
  .describe('The same key and arguments never pay twice. Use it to repeat a call whose outcome is unknown.');

/** Longer results are cut, because a model cannot read them anyway. */
const MOST_CHARACTERS = 50_000;

const outcome = z.object({
  execution_id: z.string(),
  agent_id: z.string(),
  status: z.enum(['pending', 'running', 'completed', 'failed', 'disputed']),
  result: z.string().nullable().describe('Without invisible characters'),
  result_is_cut: z.boolean(),
  result_url: z.string().nullable(),
  cost_usdc: z.number(),
  error: z.string().nullable(),
  refund: z.string().nullable(),
  next: z.string().nullable(),
  ...creatorsWords,
});
export type Outcome = z.infer<typeof outcome>;
export const Outcome = listed(outcome);

export const OUTCOME_WORDS = wordsIn('result and error');

export const cutResult = (result: string | null) => ({
  result: result?.slice(0, MOST_CHARACTERS) ?? null,
  result_is_cut: (result?.length ?? 0) > MOST_CHARACTERS,
});

/** True for an execution that has not ended. */
export const isOpen = ({ status }: Pick<Execution, 'status'>): boolean => status === 'pending' || status === 'running';

export function outcomeOf(execution: Execution): Outcome {
  const { execution_id, agent_id, status, result, ipfs_url, cost_usdc, error, refund } = execution;
  return {
    execution_id,
    agent_id,
    status,
    ...cutResult(result),
    result_url: ipfs_url,
    cost_usdc,
    error: error && `${error.message} (${error.code})`,
    refund,
    next: isOpen(execution) ? 'Call wait_for_execution with this execution_id.' : null,
    ...OUTCOME_WORDS,
  };
}
