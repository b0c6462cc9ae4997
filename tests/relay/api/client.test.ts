/** The SDK's REST client against the real server: typed answers, and errors with the marketplace's own messages. */
import { expect } from 'chai';
import { ApiError } from '../../../app/relay/errors.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { MarketplaceError } from '../../../app/sdk/client/error.ts';
import { createManagementClient } from '../../../app/sdk/client/management.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf, newExecutionId, type TestKey } from '../../harness/edge/rows.ts';

describe('sdk/client', () => {
  let world: World;
  let key: TestKey;
  let listing: string;
  before(async () => {
    world = await startWorld();
    key = await world.addKey();
    listing = await world.addListing({}, { custom_tags: ['a-b'] });
    // The harness computes the index's figures before each of its own calls.
    await world.get('/v1/agents');
  });
  after(() => world.stop());

  const client = () => createClient({ baseUrl: `${world.url}/`, apiKey: key.apiKey });
  const refusal = (call: Promise<unknown>): Promise<MarketplaceError> =>
    call.then(
      () => expect.fail('expected a refusal'),
      (error: MarketplaceError) => error,
    );

  it('lists and gets agents with filters', async () => {
    expect((await client().listAgents()).total).to.equal(1);
    const none = await client().listAgents({ tags: 'data,no-such', verified_only: true, limit: 5, sort: 'price_asc' });
    expect(none).to.deep.equal({ agents: [], total: 0, limit: 5, offset: 0 });
    expect((await client().listAgents({ tags: 'data,a-b' })).agents[0]?.agent_id).to.equal(listing);
    expect((await client().getAgent(listing)).name).to.equal('csv-analyst');
  });

  it('executes, and distinguishes the three answers by their status', async () => {
    for (const kind of ['pending', 'running'] as const) {
      const executionId = newExecutionId();
      world.state.execute = async () => ({ kind, executionId });
      const answer = await client().execute(listing, { task: 'x', async: true, max_cost_usdc: 1 });
      expect(answer).to.deep.equal({ execution_id: executionId, status: kind });
    }
    world.state.execute = async () => ({
      kind: 'completed',
      executionId: newExecutionId(),
      result: Buffer.from('r'),
      resultHash: 'sha256:0',
      price: 1n,
      tokensUsed: null,
      executionTimeMs: 1,
      settleSignature: 's',
      resultToken: 't',
    });
    const answer = await client().execute(listing, { task: 'x' });
    expect(answer).to.include({ status: 'completed', result: 'r', cost_usdc: 0.000001 });
  });

  it('reads executions with filters', async () => {
    const id = await world.addRecord({ caller: key.wallet, listing });
    expect((await client().getExecution(id)).status).to.equal('completed');
    const from = new Date((EPOCH - 1) * 1000).toISOString();
    expect((await client().listExecutions({ status: 'completed', agent_id: listing, from })).total).to.equal(1);
    expect((await client().listExecutions({ status: 'failed' })).total).to.equal(0);
  });

  it('sends metadata, and reads health and readiness, also when they fail', async () => {
    const bytes = encodeMetadata(metadataOf({ name: 'sent-by-client' }));
    expect(await client().postMetadata(bytes)).to.deep.equal({ metadata_hash: hashMetadata(bytes) });
    expect((await client().health()).status).to.equal('ok');
    expect(await client().ready()).to.include({ status: 'not_ready', environment: 'test' });
  });

  it('throws an error with status, code, message, execution and request id of the marketplace', async () => {
    const executionId = newExecutionId();
    world.state.execute = async () => {
      throw new ApiError('execution_timeout', 'No answer in 60 s', { executionId });
    };
    const error = await refusal(client().execute(listing, { task: 'x' }));
    expect(error).to.be.instanceOf(MarketplaceError);
    expect(error).to.include({ status: 408, code: 'execution_timeout', message: 'No answer in 60 s', executionId });
    expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
    const anonymous = createClient({ baseUrl: world.url });
    expect(await refusal(anonymous.listExecutions())).to.include({
      status: 401,
      code: 'unauthorized',
      executionId: null,
    });
    expect(await refusal(anonymous.getAgent('../executions'))).to.include({ status: 404, code: 'agent_not_found' });
  });

  describe('retries', () => {
    type Attempt = (send: () => Promise<Response>) => Promise<Response>;
    const through: Attempt = (send) => send();
    const noAnswer: Attempt = async () => {
      throw new TypeError('fetch failed');
    };
    const answer = (status: number, error: object | null, headers: Record<string, string> = {}): Attempt => {
      const body = error === null ? '<h1>Bad gateway</h1>' : JSON.stringify({ error });
      return async () => new Response(body, { status, headers });
    };
    const inProgress = { code: 'request_in_progress', message: 'wait', execution_id: newExecutionId(), details: null };
    const busy = { code: 'service_unavailable', message: 'later', execution_id: null, details: null };

    /** A client whose attempts have these outcomes. The last one repeats. */
    function clientWith(...attempts: Attempt[]) {
      const keys: (string | null)[] = [];
      const repeating = createClient({
        baseUrl: world.url,
        apiKey: key.apiKey,
        fetch: (url, init) => {
          keys.push(new Headers(init?.headers).get('idempotency-key'));
          const attempt = attempts[Math.min(keys.length, attempts.length) - 1]!;
          return attempt(() => fetch(url, init));
        },
      });
      return { repeating, keys };
    }

    const cases: [name: string, attempts: Attempt[]][] = [
      ['after no answer at all', [noAnswer, noAnswer, through]],
      ["after a balancer's 502", [answer(502, null), through]],
      ['after a 503 that names no execution', [answer(503, busy, { 'retry-after': '1' }), through]],
      ['while the first one runs', [noAnswer, answer(409, inProgress, { 'retry-after': '1' }), through]],
      ['after an answer that broke off', [async () => brokenAnswer(), through]],
    ];
    for (const [name, attempts] of cases) {
      it(`execute ${name} with the same Idempotency-Key`, async () => {
        world.state.execute = async () => ({ kind: 'pending', executionId: newExecutionId() });
        const { repeating, keys } = clientWith(...attempts);
        const { status } = await repeating.execute(listing, { task: 'x', async: true });
        expect(status).to.equal('pending');
        expect(keys).to.have.length(attempts.length);
        expect(new Set(keys).size).to.equal(1);
        expect(keys[0]).to.match(/^[0-9a-f-]{36}$/);
      });
    }

    it('does not retry after a final answer, and stops after a limit', async () => {
      const final: [Attempt, number][] = [
        [answer(402, { ...busy, code: 'insufficient_balance' }), 1],
        [answer(500, { ...busy, code: 'execution_failed', execution_id: newExecutionId() }), 1],
        [answer(503, { ...busy, execution_id: newExecutionId() }), 1],
        [answer(503, busy, { 'retry-after': '900' }), 1],
        [answer(500, null), 1],
        [noAnswer, 5],
      ];
      for (const [attempt, count] of final) {
        const { repeating, keys } = clientWith(attempt);
        await refusal(repeating.execute(listing, { task: 'x' }));
        expect(keys).to.have.length(count);
      }
    }).timeout(600_000);

    it("uses the caller's own key, and retries no longer than the caller waits", async () => {
      const running = answer(409, inProgress, { 'retry-after': '1' });
      const leaving = new AbortController();
      const { signal } = leaving;
      const { repeating, keys } = clientWith(running, (send) => {
        // During the wait for the third attempt.
        setTimeout(() => leaving.abort(), 10);
        return running(send);
      });
      const error = await refusal(repeating.execute(listing, { task: 'x' }, { idempotencyKey: 'mine', signal }));
      expect(error).to.equal(signal.reason);
      expect(keys).to.deep.equal(['mine', 'mine']);
    });

    it('also retries reads, unless the caller does, and ends them with their signal or at the timeout', async () => {
      const attempts = [noAnswer, answer(503, busy, { 'retry-after': '1' }), async () => brokenAnswer(), through];
      const { repeating, keys } = clientWith(...attempts);
      expect((await repeating.listAgents()).total).to.equal(1);
      expect(keys).to.have.length(attempts.length);

      const options = { baseUrl: world.url, repeatReads: false };
      let calls = 0;
      const fetchNothing = async () => {
        calls += 1;
        throw new TypeError('fetch failed');
      };
      const once = createClient({ ...options, fetch: fetchNothing });
      expect(await refusal(once.getAgent(listing))).to.be.instanceOf(TypeError);
      expect(calls).to.equal(1);

      const never: typeof fetch = (_, init) =>
        new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)));
      const late = createClient({ ...options, readTimeoutMs: 20, fetch: never });
      for (const read of [late.listAgents(), late.listLeaves(0), late.health()]) {
        expect((await refusal(read)).name).to.equal('TimeoutError');
      }
      const waiting = createClient({ baseUrl: world.url, fetch: never });
      const signal = AbortSignal.timeout(20);
      expect(await refusal(waiting.getExecution(newExecutionId(), { signal }))).to.equal(signal.reason);
    });

    function brokenAnswer(): Response {
      const body = new ReadableStream({
        start: (stream) => {
          stream.enqueue(Buffer.from('{"execution_id":'));
          stream.error(new TypeError('terminated'));
        },
      });
      return new Response(body, { status: 200 });
    }
  });

  it('ignores unknown fields of a newer service', async () => {
    const spoken = (status: number, value: unknown) => ({
      baseUrl: world.url,
      fetch: async () => new Response(JSON.stringify(value), { status }),
    });
    const [page, agent] = [await client().listAgents(), await client().getAgent(listing)];
    const newer = page.agents.map((one) => ({ ...one, creator: { ...one.creator, level: 3 }, badge: 'new' }));
    expect(await createClient(spoken(200, { ...page, agents: newer, next: null })).listAgents()).to.deep.equal(page);
    expect(await createClient(spoken(200, { ...agent, extra: {} })).getAgent(listing)).to.deep.equal(agent);
    const completed = {
      ...{ execution_id: newExecutionId(), status: 'completed', result: 'r', result_hash: 'sha256:0', cost_usdc: 1 },
      ...{ tokens_used: null, execution_time_ms: 1, on_chain_record: 'https://a.b', ipfs_url: 'https://a.b' },
    };
    const paid = await createClient(spoken(200, { ...completed, tip: 1 })).execute(listing, { task: 'x' });
    expect(paid).to.deep.equal(completed);
    const error = { code: 'too_new', message: 'Something new', execution_id: null, details: { since: 2 }, help: 'url' };
    expect(await refusal(createClient(spoken(418, { error })).getAgent(listing))).to.deep.include({
      ...{ status: 418, code: 'too_new', message: 'Something new', executionId: null, details: { since: 2 } },
    });
    const config = await createManagementClient({ baseUrl: world.url }).call('config.get');
    const management = createManagementClient(spoken(200, { result: { data: { ...config, extra: 1 } } }));
    expect(await management.call('config.get')).to.deep.equal(config);
  });

  it('rejects an answer with a missing field or a wrong type', async () => {
    for (const answer of [{ agents: [] }, { agents: [{ agent_id: 1 }], total: 1, limit: 20, offset: 0 }, null, []]) {
      const fetch = async () => new Response(JSON.stringify(answer), { status: 200 });
      expect((await refusal(createClient({ baseUrl: world.url, fetch }).listAgents())).name).to.equal('ZodError');
    }
  });

  it('reports a foreign server and a server that does not answer', async () => {
    const proxy = async () => new Response('<h1>Bad gateway</h1>', { status: 502 });
    const error = await refusal(createClient({ baseUrl: world.url, repeatReads: false, fetch: proxy }).listAgents());
    expect(error).to.include({ status: 502, code: 'unexpected_answer' });
    const managed = await refusal(createManagementClient({ baseUrl: world.url, fetch: proxy }).call('config.get'));
    expect(managed).to.include({ status: 502, code: 'unexpected_answer' });
    // Caddy answers like this for an unknown host name.
    const elsewhere = { baseUrl: world.url, fetch: async () => new Response('', { status: 200 }) };
    for (const call of [
      createClient(elsewhere).listAgents(),
      createClient(elsewhere).execute(listing, { task: 'x' }),
      createManagementClient(elsewhere).call('config.get'),
    ]) {
      const refused = await refusal(call);
      expect(refused).to.include({ name: 'UnexpectedAnswerError', status: 200, code: 'unexpected_answer' });
      expect(refused.message).to.include('answered with status 200 and no JSON. Is it the address of a marketplace?');
    }
    const nobody = createClient({ baseUrl: 'http://127.0.0.1:1', repeatReads: false });
    expect(await refusal(nobody.listAgents())).to.be.instanceOf(TypeError);
  });
});
