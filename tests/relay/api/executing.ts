/** Shared by the tests of POST /v1/agents/{agent_id}/execute: agents to call, and a key for them. */
import { type ApiAnswer, startWorld, type World } from '../../harness/edge/api.ts';
import type { TestKey } from '../../harness/edge/rows.ts';

export const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    csv: { type: 'string', minLength: 1, maxLength: 1000 },
    mode: { enum: ['fast', 'slow', 3] },
    when: { type: 'string', format: 'date' },
    limits: { type: 'object', properties: { rows: { type: 'integer', minimum: 1 } }, required: ['rows'] },
    names: { type: 'array', items: { type: 'string' }, maxItems: 2 },
  },
  required: ['csv'],
  additionalProperties: false,
};

export interface Executing {
  world: World;
  key: TestKey;
  /** An agent whose parameters must fit INPUT_SCHEMA. */
  listing: string;
  /** An agent that accepts any parameters. */
  open: string;
  /** Executes with the key; calls `open` unless another agent is named. */
  execute(body: unknown, id?: string, headers?: Record<string, string>): Promise<ApiAnswer>;
}

export async function startExecuting(): Promise<Executing> {
  const world = await startWorld();
  const key = await world.addKey();
  const listing = await world.addListing({ min_timeout_seconds: 2n }, { input_schema: INPUT_SCHEMA });
  const open = await world.addListing();
  return {
    world,
    key,
    listing,
    open,
    execute: (body, id = open, headers = {}) =>
      world.post(`/v1/agents/${id}/execute`, body, { key: key.apiKey, headers }),
  };
}
