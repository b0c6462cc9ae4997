/** `search_agents`, `describe_agent` and `quote`: find agents, and check if this key can pay for them. */
import * as z from 'zod';
import type { RouteAnswer } from '../../sdk/client/client.ts';
import { AGENT_SORTS } from '../../sdk/wire/choices.ts';
import { formatUsdc, parseUsdc } from '../../sdk/wire/usdc.ts';
import { failure, value } from '../answers.ts';
import { AgentId, listed } from '../shapes.ts';
import { creatorsWords, wordsIn } from '../words.ts';
import { gasOf } from './budget.ts';
import { READS, safely, type Tools } from './tool.ts';

const found = {
  agent_id: z.string(),
  name: z.string(),
  tagline: z.string(),
  price_usdc: z.number(),
  status: z.string(),
  health: z.string(),
  success_rate: z.number(),
  total_executions: z.number(),
};
type Listed = RouteAnswer<'listAgents'>['agents'][number];

const summaryOf = ({ agent_id, name, tagline, price_per_call_usdc, ...rest }: Listed) => ({
  agent_id,
  name,
  tagline,
  price_usdc: price_per_call_usdc,
  status: rest.status,
  health: rest.health.status,
  success_rate: rest.success_rate,
  total_executions: rest.total_executions,
});

const SearchInput = listed(
  z.strictObject({
    query: z.string().optional().describe('Words of name, tagline, tags or creator'),
    tags: z.array(z.string()).optional(),
    sort: z.enum(AGENT_SORTS).optional().describe('Default: best, agents that work first'),
    limit: z.int().min(1).max(20).optional(),
    offset: z.int().min(0).optional(),
  }),
);
const Found = listed(z.object({ agents: z.array(z.object(found)), total: z.number(), ...creatorsWords }));
const OneAgent = listed(z.strictObject({ agent_id: AgentId }));
const Described = listed(
  z.object({
    ...found,
    description: z.string(),
    tags: z.array(z.string()),
    creator_verified: z.boolean(),
    input_schema: z.record(z.string(), z.unknown()).describe('JSON Schema of parameters'),
    output_schema: z.record(z.string(), z.unknown()),
    timeout_seconds: z.number(),
    median_ms: z.number().nullable(),
    ...creatorsWords,
  }),
);
const Quote = listed(
  z.object({
    agent_id: z.string(),
    price_usdc: z.number(),
    can_pay: z.boolean(),
    needs_approval: z.boolean(),
    reasons: z.array(z.string()).describe('Why it cannot be paid'),
  }),
);

export function addAgentTools({ server, market, session, payment }: Tools): void {
  const { request } = market;
  server.registerTool(
    'search_agents',
    {
      title: 'Search agents',
      description: 'Find paid AI agents. Start here. Every word of query must match.',
      annotations: READS,
      inputSchema: SearchInput,
      outputSchema: Found,
    },
    safely(async ({ query, tags, sort = 'best', limit = 10, offset }) => {
      const { agents, total } = await request('listAgents', {
        limit,
        sort,
        ...(query && { q: query }),
        ...(tags?.length && { tags: tags.join(',') }),
        ...(offset && { offset }),
      });
      return value({ agents: agents.map(summaryOf), total, ...wordsIn('name and tagline') });
    }),
  );

  server.registerTool(
    'describe_agent',
    {
      title: 'Describe an agent',
      description: 'What an agent does, its price, health and input schema. Read it before run_agent.',
      annotations: READS,
      inputSchema: OneAgent,
      outputSchema: Described,
    },
    safely(async ({ agent_id }) => {
      const agent = await request('getAgent', { agent_id });
      const { description, tags, input_schema, output_schema, timeout_seconds, creator, health } = agent;
      return value({
        ...summaryOf(agent),
        ...{ description, tags, input_schema, output_schema, timeout_seconds },
        creator_verified: creator.verified,
        median_ms: health.p50_ms,
        ...wordsIn('name, tagline, description, tags and both schemas'),
      });
    }),
  );

  // A quote shows what a key can pay.
  if (payment !== 'key') return;
  server.registerTool(
    'quote',
    {
      title: 'Quote a call',
      description: 'The present price of a call, and whether this key and session can pay it. Charges nothing.',
      annotations: READS,
      inputSchema: OneAgent,
      outputSchema: Quote,
    },
    safely(async ({ agent_id }) => {
      const [agent, key] = await Promise.all([request('getAgent', { agent_id }), request('getKey')]);
      const price = parseUsdc(agent.price_per_call_usdc);
      const left = session.remaining();
      const reasons = [
        agent.status === 'paused' && 'The agent is paused.',
        !key.scopes.includes('execute') && 'The API key may only read.',
        key.allowed_agents && !key.allowed_agents.includes(agent_id) && 'The API key may not call this agent.',
        parseUsdc(key.payable_usdc) < price && `The API key can pay at most ${key.payable_usdc} USDC now.`,
        gasOf(key) === 'too_low' &&
          `The gas balance is too low. The user has to send SOL to ${key.gas.gas_balance_address}.`,
        gasOf(key) === 'above_key_limit' &&
          'The network fees are above the gas limit of the API key. The user has to raise it.',
        left !== null && left < price && `The session's budget has ${formatUsdc(left > 0n ? left : 0n)} USDC left.`,
      ].filter((reason) => typeof reason === 'string');
      return value({
        agent_id,
        price_usdc: agent.price_per_call_usdc,
        can_pay: reasons.length === 0,
        needs_approval: price > session.approveAbove,
        reasons,
      });
    }),
  );
}

/** The refusal for a price above `max_cost_usdc`. */
export function tooDear(price: number, most: number) {
  return failure(
    `The agent costs ${price} USDC, more than max_cost_usdc, ${most} USDC. Nothing was charged.`,
    'Repeat with a higher max_cost_usdc only if it is worth that, or call search_agents for another agent.',
  );
}
