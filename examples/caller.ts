/**
 * One paid call, and what it came to. The result's hash is the one that the creator has signed and the program has seen.
 *
 *   MARKETPLACE_URL=... API_KEY=... npx tsx examples/caller.ts AGENT_ID TASK [PARAMETERS]
 */
import { createClient } from '../app/sdk/client/client.ts';
import { hashResult } from '../app/sdk/receipt/receipt.ts';

const [agentId, task, parameters = '{}'] = process.argv.slice(2);
const { MARKETPLACE_URL, API_KEY } = process.env;
if (!agentId || !task || !MARKETPLACE_URL || !API_KEY)
  throw new Error('usage: MARKETPLACE_URL=... API_KEY=... caller.ts AGENT_ID TASK [PARAMETERS]');

const client = createClient({ baseUrl: MARKETPLACE_URL, apiKey: API_KEY });
const answer = await client.execute(agentId, { task, parameters: JSON.parse(parameters) });
if (answer.status === 'completed') {
  if (hashResult(answer.result) !== answer.result_hash) throw new Error('the result is not the one that was signed');
  console.log(answer.result);
  console.error(`execution ${answer.execution_id} cost ${answer.cost_usdc} USDC: ${answer.on_chain_record}`);
} else {
  // The chain was slow to tell; it is finished without us.
  console.error(`execution ${answer.execution_id} is ${answer.status}: ask client.getExecution(execution_id)`);
}
