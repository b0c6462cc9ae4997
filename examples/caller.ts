/**
 * Makes one paid call, and prints its result and cost. The package `@agent-marketplace/client` has the same client.
 *
 *   MARKETPLACE_URL=... MARKETPLACE_API_KEY=... npx tsx examples/caller.ts AGENT_ID TASK [PARAMETERS]
 */
import { AgentMarketplace, MarketplaceError } from '../app/sdk/client/caller.ts';

const [agentId, task, parameters = '{}'] = process.argv.slice(2);
const { MARKETPLACE_URL, MARKETPLACE_API_KEY } = process.env;
if (!agentId || !task || !MARKETPLACE_URL || !MARKETPLACE_API_KEY)
  throw new Error('usage: MARKETPLACE_URL=... MARKETPLACE_API_KEY=... caller.ts AGENT_ID TASK [PARAMETERS]');

const client = new AgentMarketplace({ baseUrl: MARKETPLACE_URL, apiKey: MARKETPLACE_API_KEY });
try {
  const agent = await client.agents.retrieve(agentId);
  const maxCostUsdc = agent.price_per_call_usdc;
  const answer = await client.agents.run(agentId, { task, parameters: JSON.parse(parameters) }, { maxCostUsdc });
  console.log(answer.result);
  console.error(`execution ${answer.execution_id} cost ${answer.cost_usdc} USDC: ${answer.on_chain_record}`);
} catch (error) {
  if (!(error instanceof MarketplaceError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
