/** A first request with a new key, for an agent that exists now. */
import { queryOptions } from '@tanstack/react-query';
import type { KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { own } from '../../../sdk/wire/own.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { BASE_URL, request } from '../../service.ts';

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
  const body = { task: 'Hello', parameters: parametersOf(agent), max_cost_usdc: agent.price_per_call_usdc };
  const data = JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `curl -s ${BASE_URL}/v1/agents/${agent.agent_id}/execute`,
    key,
    `-H 'Content-Type: application/json'`,
    `-d '${data}'`,
  ].join(' \\\n  ');
}

type Schema = Record<string, unknown>;

function needsOf({ input_schema: schema }: AgentFull): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
}

/** The agent's required parameters. */
function parametersOf(agent: AgentFull): Record<string, unknown> {
  const { properties = {} } = agent.input_schema as { properties?: Record<string, Schema> };
  return Object.fromEntries(needsOf(agent).map((name) => [name, sampleOf(own(properties, name) ?? {})]));
}

/** A value that fits the simple rules of a schema. */
function sampleOf(schema: Schema): unknown {
  const { type, minimum, minLength, items, properties, required } = schema;
  const given = [schema.const, schema.default, ...listOf(schema.examples), ...listOf(schema.enum)];
  const found = given.find((value) => value !== undefined);
  if (found !== undefined) return found;
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === 'integer' || kind === 'number') return typeof minimum === 'number' ? Math.ceil(minimum) : 1;
  if (kind === 'boolean') return true;
  if (kind === 'null') return null;
  if (kind === 'array') return typeof schema.minItems === 'number' ? [sampleOf((items ?? {}) as Schema)] : [];
  if (kind === 'object') {
    const fields = (properties ?? {}) as Record<string, Schema>;
    return Object.fromEntries(listOf(required).map((name) => [name, sampleOf(own(fields, String(name)) ?? {})]));
  }
  return 'text'.padEnd(typeof minLength === 'number' ? minLength : 0, '.');
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
