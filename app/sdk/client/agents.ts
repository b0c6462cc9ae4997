/** `client.agents`. */

import { buyCall } from './bought.ts';
import { toQuery } from './http.ts';
import { Listing } from './listing.ts';
import { executeRequest, type RunInput, type RunOptions, runCall, withKey } from './paid.ts';
import type { RequestOptions, Service } from './service.ts';
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
  readonly #service: Service;
  constructor(service: Service) {
    this.#service = service;
  }

  /** All agents that match the filter, in pages of `limit`. */
  list(
    { offset = 0, limit = LARGEST_PAGE, ...filter }: AgentFilter = {},
    { signal }: RequestOptions = {},
  ): Listing<AgentSummary> {
    return new Listing(async (from) => {
      const path = `/v1/agents${toQuery({ ...filter, limit, offset: from })}`;
      type Answer = { agents: AgentSummary[]; total: number; limit: number; offset: number };
      const { agents, ...page } = await this.#service.read<Answer>('AgentPage', { method: 'GET', path, signal });
      return { items: agents, ...page };
    }, offset);
  }

  /** One agent in full. */
  retrieve(agentId: string, { signal }: RequestOptions = {}): Promise<Agent> {
    return this.#service.read('AgentFull', {
      method: 'GET',
      path: `/v1/agents/${encodeURIComponent(agentId)}`,
      signal,
    });
  }

  /** Success and latency for each of the last 30 days. */
  statistics(agentId: string, { signal }: RequestOptions = {}): Promise<AgentStatistics> {
    const path = `/v1/agents/${encodeURIComponent(agentId)}/statistics`;
    return this.#service.read('AgentStatistics', { method: 'GET', path, signal });
  }

  /**
   * Pays for one execution, waits for its end and returns the result. It pays at most once, also after lost connections
   * and retries. Throws the error of a failed execution, whose price is refunded in full. `timeout` limits the whole
   * wait. After that it throws WaitTimeoutError with the execution's id. The execution continues and may still be paid.
   */
  run(agentId: string, input: RunInput, options: RunOptions = {}): Promise<CompletedExecution> {
    const service = this.#service;
    const request = executeRequest(agentId, input, options, false);
    const { payment } = service;
    return withKey(request, () =>
      payment ? buyCall(service, { agentId, input, request }, payment, options) : runCall(service, request, options),
    );
  }
}
