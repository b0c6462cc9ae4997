/** The client for programs that call agents: `new AgentMarketplace({ baseUrl, apiKey })`. */
import { Agents } from './agents.ts';
import { type Client, createClient, type Options } from './client.ts';
import { Webhooks } from './endpoints.ts';
import { followWallet, type StreamOptions } from './events.ts';
import { Executions, Statements } from './executions.ts';
import type { MarketplaceEvent } from './types.ts';

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
  /**
   * Calls a route by the name that it has in the OpenAPI document: `request('getKey')`. The methods above call these
   * routes too, with less to write.
   */
  readonly request: Client['request'];
  readonly #client: Client;

  constructor(options: Options = {}) {
    // Reads only what was not given: Deno stops a program that reads a variable without permission.
    const environment = globalThis.process?.env ?? {};
    const client = createClient({
      ...options,
      baseUrl: options.baseUrl ?? environment.MARKETPLACE_URL,
      apiKey: options.apiKey ?? environment.MARKETPLACE_API_KEY,
    });
    this.baseUrl = client.baseUrl;
    this.agents = new Agents(client);
    this.executions = new Executions(client);
    this.statements = new Statements(client);
    this.webhooks = new Webhooks(client);
    this.request = client.request;
    this.#client = client;
  }

  /** All events of the wallet from now on, until you leave the loop or abort the signal. Lost connections are resumed. */
  events(options: StreamOptions = {}): AsyncGenerator<MarketplaceEvent, void, undefined> {
    return followWallet(this.#client, options);
  }
}
