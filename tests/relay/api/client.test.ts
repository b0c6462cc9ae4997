/** The client's requests against the real server: typed answers, and errors with the marketplace's own messages. */
import { expect } from 'chai';
import { ApiError } from '../../../app/relay/errors.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { APIConnectionError, MarketplaceError } from '../../../app/sdk/client/error.ts';
import { createManagement } from '../../../app/sdk/client/management.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf, newExecutionId, type TestKey } from '../../harness/edge/rows.ts';

describe('sdk/client', () => {
  let key: TestKey;
  let listing: string;
  const world = useWorld();
  before(async () => {
    key = await world.addKey();
    listing = await world.addListing({}, { custom_tags: ['a-b'] });
    // The harness computes the index's figures before each of its own calls.
    await world.get('/v1/agents');
  });

  const client = (more = {}) => createClient({ baseUrl: `${world.url}/`, apiKey: key.apiKey, ...more });
  /** A client that gets this answer to every request. */
  const told = (status: number, text: string) => client({ fetch: async () => new Response(text, { status }) });
  const refusal = (call: Promise<unknown>): Promise<MarketplaceError> =>
    call.then(
      () => expect.fail('expected a refusal'),
      (error: MarketplaceError) => error,
    );

  it('fills the path and the query of a route', async () => {
    const { request } = client();
    expect((await request('listAgents')).total).to.equal(1);
    const none = { tags: 'data,no-such', verified_only: true, limit: 5, sort: 'price_asc' } as const;
    expect(await request('listAgents', none)).to.deep.equal({ agents: [], total: 0, limit: 5, offset: 0 });
    expect((await request('listAgents', { tags: 'data,a-b' })).agents[0]?.agent_id).to.equal(listing);
    expect((await request('getAgent', { agent_id: listing })).name).to.equal('csv-analyst');
    const foreign = refusal(request('getAgent', { agent_id: '../executions' }));
    expect(await foreign).to.include({ status: 404, code: 'agent_not_found' });
    const id = await world.addRecord({ caller: key.wallet, listing });
    expect((await request('getExecution', { execution_id: id })).status).to.equal('completed');
    const from = new Date((EPOCH - 1) * 1000).toISOString();
    expect((await request('listExecutions', { status: 'completed', agent_id: listing, from })).total).to.equal(1);
    expect((await request('listExecutions', { status: 'failed' })).total).to.equal(0);
  });

  it('sends a body as JSON, and bytes as they are', async () => {
    const executionId = newExecutionId();
    world.state.execute = async () => ({ kind: 'pending', executionId });
    const body = { task: 'x', async: true, max_cost_usdc: 1 };
    const answer = await client().request('executeAgent', { agent_id: listing, body });
    expect(answer).to.deep.equal({ execution_id: executionId, status: 'pending' });
    const bytes = encodeMetadata(metadataOf({ name: 'sent-by-client' }));
    const accepted = await client().request('postMetadata', { body: bytes });
    expect(accepted).to.deep.equal({ metadata_hash: hashMetadata(bytes) });
  });

  it('reads health and readiness, also when the service is not ready', async () => {
    expect((await client().request('getHealth')).status).to.equal('ok');
    expect(await client().request('getReady')).to.include({ status: 'not_ready', environment: 'test' });
  });

  it('repeats a paid call with the same random key, and names it in the error', async () => {
    const keys: (string | null)[] = [];
    const lost: typeof fetch = async (_, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      throw new TypeError('fetch failed');
    };
    const call = client({ fetch: lost }).request('executeAgent', { agent_id: listing, body: { task: 'x' } });
    const error = await refusal(call);
    expect(error).to.be.instanceOf(APIConnectionError);
    expect(error.idempotencyKey).to.match(/^[0-9a-f-]{36}$/);
    expect(keys).to.deep.equal(Array(3).fill(error.idempotencyKey));
  });

  it('throws an error with status, code, message, execution and request id of the marketplace', async () => {
    const executionId = newExecutionId();
    world.state.execute = async () => {
      throw new ApiError('execution_timeout', 'No answer in 60 s', { executionId });
    };
    const error = await refusal(client().request('executeAgent', { agent_id: listing, body: { task: 'x' } }));
    expect(error).to.be.instanceOf(MarketplaceError);
    expect(error).to.include({ status: 408, code: 'execution_timeout', message: 'No answer in 60 s', executionId });
    expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
    const anonymous = createClient({ baseUrl: world.url });
    expect(await refusal(anonymous.request('listExecutions'))).to.include({
      status: 401,
      code: 'unauthorized',
      executionId: null,
    });
    const managed = await refusal(createManagement(anonymous).call('keys.list'));
    expect(managed).to.include({ status: 401, code: 'unauthorized', executionId: null });
    expect(managed.requestId).to.match(/^[0-9a-f-]{36}$/);
  });

  it('passes on what a newer service says', async () => {
    const error = { code: 'too_new', message: 'Something new', execution_id: null, details: { since: 2 }, help: 'url' };
    const refused = await refusal(told(418, JSON.stringify({ error })).request('getAgent', { agent_id: listing }));
    expect(refused).to.deep.include({
      ...{ status: 418, code: 'too_new', message: 'Something new', executionId: null, details: { since: 2 } },
    });
    const config = await createManagement(client()).call('config.get');
    const newer = told(200, JSON.stringify({ result: { data: { ...config, extra: 1 } } }));
    expect(await createManagement(newer).call('config.get')).to.deep.equal(config);
  });

  it('refuses an answer of another server', async () => {
    const answers: [status: number, text: string, message: string][] = [
      [502, '<h1>Bad gateway</h1>', 'answered with status 502 and an unknown error'],
      // Caddy answers like this for an unknown host name.
      [200, '', 'answered with status 200 and no JSON. Is it the address of a marketplace?'],
      [200, '{"agents":[]}', 'answered with status 200 and no answer of listAgents: total is missing'],
      [200, 'null', 'answered with status 200 and no answer of listAgents: agents is missing'],
    ];
    for (const [status, text, message] of answers) {
      const once = client({ maxRetries: 0, fetch: async () => new Response(text, { status }) });
      const refused = await refusal(once.request('listAgents'));
      expect(refused).to.include({ name: 'UnexpectedAnswerError', status, code: 'unexpected_answer' });
      expect(refused.message).to.include(message);
      const managed = await refusal(createManagement(once).call('config.get'));
      expect(managed).to.include({ name: 'UnexpectedAnswerError', status, code: 'unexpected_answer' });
    }
  });
});
