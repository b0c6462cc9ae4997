/** Makes a paid call with the client that openapi-typescript and openapi-fetch generate from the served document. */
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

declare const process: { argv: string[] };

const [baseUrl = '', apiKey = '', agentId = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
const agent = { params: { path: { agent_id: agentId } } };

const terms = await api.GET('/trpc/config.get');
const listing = await api.GET('/v1/agents/{agent_id}', agent);
if (!terms.data || !listing.data) throw new Error(`not readable: ${JSON.stringify([terms.error, listing.error])}`);

const parameters = {
  csv: 'city,people\nLagos,15\nOslo,1\n',
  query: 'SELECT city FROM csv ORDER BY people DESC LIMIT 1',
};
const body = { task: 'Which city is the largest?', parameters };
const executed = await api.POST('/v1/agents/{agent_id}/execute', { ...agent, body });
if (executed.data?.status !== 'completed') throw new Error(`not completed: ${JSON.stringify(executed)}`);
const { execution_id, result, cost_usdc } = executed.data;

const read = await api.GET('/v1/executions/{execution_id}', { params: { path: { execution_id } } });
if (!read.data) throw new Error(`not readable: ${JSON.stringify(read.error)}`);

const refused = await api.POST('/v1/agents/{agent_id}/execute', { ...agent, body: { task: '' } });
if (!refused.error) throw new Error('an empty task was taken');
const { error } = refused.error;
// The type of `details` follows from the code.
const path = error.code === 'invalid_request' ? error.details.issues[0]?.path : undefined;

console.log(
  JSON.stringify({
    environment: terms.data.result.data.environment,
    timeout_seconds: listing.data.timeout_seconds,
    result,
    cost_usdc,
    record: { status: read.data.status, result: read.data.result },
    refused: { code: error.code, path },
  }),
);
