/** `client.agents`. */

import { buyCall } from './bought.ts';
import { type Client, type RequestOptions, withKey } from './client.ts';
import { Listing } from './listing.ts';
import { executeRequest, type RunInput, type RunOptions, runCall } from './paid.ts';
import type { Agent, AgentStatistics, AgentSummary, CompletedExecution } from './types.ts';

export interface AgentFilter {
  /** Words from the agent's name, tagline, tags or creator's name; or an agent_id or a wallet address. */
  q?: string | undefined;
  /** The agent must have all of them. */
  tags?: readonly string[] | undefined;
  /** The creator's wallet address. */
  creator?: string | undefined;
  min_success_rate?: number | undefined;
  min_executions?: number | undefined;
  verified_only?: boolean | undefined;
  sort?: 'total_executions' | 'success_rate' | 'price_asc' | 'price_desc' | 'created_at' | 'best' | undefined;
  /** Agents per page, 1 to 100. Default: 100. */
  limit?: number | undefined;
  /** Agents to skip. */
  offset?: number | undefined;
}

const LARGEST_PAGE = 100;

export class Agents {
  readonly #client: Client;
  constructor(client: Client) {
    this.#client = client;
  }

  /** All agents that match the filter, in pages of `limit`. */
  list(
    { offset = 0, limit = LARGEST_PAGE, tags, ...filter }: AgentFilter = {},
    { signal }: RequestOptions = {},
  ): Listing<AgentSummary> {
    // Plain JavaScript may give one tag as text, or null.
    const joined = String(tags ?? '') || undefined;
    return new Listing(async (from) => {
      const query = { ...filter, tags: joined, limit, offset: from };
      const { agents, ...page } = await this.#client.request('listAgents', query, { signal });
      return { items: agents, ...page };
    }, offset);
  }

  /** One agent in full. */
  retrieve(agentId: string, { signal }: RequestOptions = {}): Promise<Agent> {
    return this.#client.request('getAgent', { agent_id: agentId }, { signal });
  }

  /** Success and latency for each of the last 30 days. */
  statistics(agentId: string, { signal }: RequestOptions = {}): Promise<AgentStatistics> {
    return this.#client.request('getAgentStatistics', { agent_id: agentId }, { signal });
  }

  /**
   * Pays for one execution, waits for its end and returns the result. It pays at most once, also after lost connections
   * and retries. Throws the error of a failed execution, whose price is refunded in full. `timeout` limits the whole
   * wait. After that it throws WaitTimeoutError with the execution's id. The execution continues and may still be paid.
   */
  run(agentId: string, input: RunInput, options: RunOptions = {}): Promise<CompletedExecution> {
    const client = this.#client;
    const request = executeRequest(agentId, input, options, false);
    const { payment } = client;
    return withKey(request, () =>
      payment ? buyCall(client, { agentId, input, request }, payment, options) : runCall(client, request, options),
    );
  }
}
