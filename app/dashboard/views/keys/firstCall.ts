/** A first request with a new key, for an agent that exists now. */
import { queryOptions } from '@tanstack/react-query';
import type { KeyScope } from '../../../sdk/wire/keyScopes.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { BASE_URL, request } from '../../service.ts';
import { exampleParameters } from '../agent/schema/example.ts';

const CANDIDATES = 8;

/**
 * The agent to try first: preferably one with completed calls, then with the fewest required parameters, then the
 * oldest. Null if there is none.
 */
export const firstAgentQuery = queryOptions({
  queryKey: ['first-agent'],
  queryFn: async (): Promise<AgentFull | null> => {
    const { agents } = await request('listAgents', { limit: CANDIDATES });
    const active = agents.filter(({ status, health }) => status === 'active' && health.status === 'ok');
    const full = await Promise.all(active.map(({ agent_id }) => request('getAgent', { agent_id })));
    const proven = full.filter(({ successful_executions }) => successful_executions > 0);
    const [first] = (proven.length > 0 ? proven : full).sort(
      (one, other) =>
        needsOf(one).length - needsOf(other).length || Date.parse(one.created_at) - Date.parse(other.created_at),
    );
    return first ?? null;
  },
  staleTime: 60_000,
});

/**
 * The first request as a shell command. Without the scope `execute`, or without an agent, it lists executions; with the
 * scope `webhooks` alone, the wallet's webhook endpoints.
 */
export function firstCurl(apiKey: string, scopes: readonly KeyScope[], agent: AgentFull | null): string {
  const key = `-H 'Authorization: Bearer ${apiKey}'`;
  if (!agent || !scopes.includes('execute')) {
    const isForWebhooks = scopes.every((scope) => scope === 'webhooks');
    return `curl -s '${BASE_URL}/v1/${isForWebhooks ? 'webhooks' : 'executions?limit=5'}' \\\n  ${key}`;
  }
  const body = {
    task: 'Hello',
    parameters: exampleParameters(agent.input_schema),
    max_cost_usdc: agent.price_per_call_usdc,
  };
  const data = JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `curl -s ${BASE_URL}/v1/agents/${agent.agent_id}/execute`,
    key,
    `-H 'Content-Type: application/json'`,
    `-d '${data}'`,
  ].join(' \\\n  ');
}

function needsOf({ input_schema: schema }: AgentFull): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
}
