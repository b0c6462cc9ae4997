/** The REST client's methods that read agents. They need no key. */
import { AgentFull, AgentPage, AgentStatistics, type AgentsQuery } from '../wire/wire.ts';
import type { Reading } from './answer.ts';
import { type ReadOptions, toQuery } from './http.ts';

/** Filters of GET /v1/agents, as text or numbers. */
export type AgentFilters = Partial<{
  limit: number;
  offset: number;
  tags: string;
  min_success_rate: number;
  min_executions: number;
  verified_only: boolean;
  /** Words of its name, tagline, tags or creator's name; or an agent_id or a wallet. */
  q: string;
  creator: string;
  sort: AgentsQuery['sort'];
}>;

export function createAgentMethods({ get }: Reading) {
  return {
    listAgents: (filters: AgentFilters = {}, options?: ReadOptions) =>
      get(AgentPage, `/v1/agents${toQuery(filters)}`, options),
    getAgent: (agentId: string, options?: ReadOptions) =>
      get(AgentFull, `/v1/agents/${encodeURIComponent(agentId)}`, options),
    /** Success and latency for each of the last 30 days. */
    getAgentStatistics: (agentId: string, options?: ReadOptions) =>
      get(AgentStatistics, `/v1/agents/${encodeURIComponent(agentId)}/statistics`, options),
  };
}
