/** The client for programs that call agents: `new AgentMarketplace({ baseUrl, apiKey })`. */
import { Agents } from './agents.ts';
import { Webhooks } from './endpoints.ts';
import { Executions, Statements } from './executions.ts';
import { createService, type Options } from './service.ts';

/**
 * One client serves a whole program. Methods throw MarketplaceError. Reads and paid calls are retried after lost
 * connections and temporary errors. The idempotency key of a paid call prevents a second payment.
 */
export class AgentMarketplace {
  readonly baseUrl: string;
  readonly agents: Agents;
  readonly executions: Executions;
  readonly statements: Statements;
  readonly webhooks: Webhooks;

  constructor(options: Options = {}) {
    const service = createService(options);
    this.baseUrl = service.baseUrl;
    this.agents = new Agents(service);
    this.executions = new Executions(service);
    this.statements = new Statements(service);
    this.webhooks = new Webhooks(service);
  }
}
