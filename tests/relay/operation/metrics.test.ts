import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import type { ApiError } from '../../../app/relay/errors.ts';
import { answerMetrics } from '../../../app/relay/http/metricsRoute.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeWebhooks } from '../../../app/sdk/wallet/webhooks.ts';
import { watchRpc } from '../../../app/solana/failure.ts';
import { createRpcFetch } from '../../../app/solana/rpc.ts';
import { EDGE_CONFIG, startWorld, type World } from '../../harness/edge/api.ts';
import { useServers } from '../../harness/edge/listen.ts';
import { untilFound } from '../../harness/edge/until.ts';
import { failedAnswer, goodAnswer, type RelayHandle, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { postTo } from '../api/sessions.ts';

const TOKEN = 'a-token-of-some-length';

describe('the reader of /metrics', () => {
  const worlds: World[] = [];
  after(() => Promise.all(worlds.map((world) => world.stop())));

  async function worldWith(metricsToken: string | null): Promise<World> {
    const world = await startWorld({ config: { ...EDGE_CONFIG, metricsToken } });
    worlds.push(world);
    return world;
  }

  it('is this computer alone without a token, and nobody behind a proxy', async () => {
    const world = await worldWith(null);
    const open = await world.get('/metrics');
    expect([open.status, open.text]).to.deep.equal([200, 'marketplace_test 1\n']);
    expect(open.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(open.headers.get('cache-control')).to.equal('no-store');
    for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP']) {
      const forwarded = await world.call('/metrics', { headers: { [name]: '127.0.0.1' } });
      expect([forwarded.status, forwarded.json.error.code], name).to.deep.equal([404, 'not_found']);
    }
    // A page of another site whose host name resolves to this computer.
    const rebound = await postTo(world, 'attacker.example:80', '/metrics', {});
    expect([rebound.status, rebound.json.error.code]).to.deep.equal([404, 'not_found']);
    expect((await postTo(world, 'localhost:80', '/metrics', {})).status).to.equal(405);
    const post = await world.post('/metrics', {});
    expect([post.status, post.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    expect((await world.call('/metrics', { method: 'HEAD' })).status).to.equal(200);
  });

  it('is nobody from elsewhere without a token', async () => {
    const deps = {
      config: EDGE_CONFIG,
      metrics: {
        render: async () => 'x',
        answered: () => undefined,
        faulted: () => undefined,
        refused: () => undefined,
      },
    };
    for (const remoteAddress of ['203.0.113.9', '10.0.0.1', '::ffff:192.168.0.1', '2001:db8::1', undefined]) {
      const from = { socket: { remoteAddress }, headers: {}, method: 'GET' };
      const refusal = await answerMetrics(deps)(from as never, {} as never).catch((error: ApiError) => error.code);
      expect(refusal, remoteAddress).to.equal('not_found');
    }
  });

  it('is anyone with the token, from anywhere', async () => {
    const world = await worldWith(TOKEN);
    for (const authorization of [undefined, `Bearer ${TOKEN}x`, 'Bearer', `Basic ${TOKEN}`, TOKEN]) {
      const refused = await world.call('/metrics', authorization ? { headers: { authorization } } : {});
      expect([refused.status, refused.json.error.code], authorization).to.deep.equal([401, 'unauthorized']);
      expect(refused.text).not.to.include(TOKEN);
    }
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '203.0.113.9' };
    expect((await world.call('/metrics', { headers })).status).to.equal(200);
  });
});

describe('calls to the node that fail', () => {
  const serve = useServers();

  it('are counted by method, and do not change the result for the caller', async () => {
    const failed: string[] = [];
    const url = await serve(async (incoming, response) => {
      const { method } = (await json(incoming)) as { method: string };
      if (method === 'busy') response.writeHead(429).end('slow down');
      else if (method === 'refuses') response.end('{"error":{"code":-32005,"message":"behind"}}');
      else if (method === 'breaks') response.end('{"error":');
      else if (method === 'cuts') response.destroy();
      else if (method === 'quotes') response.end('{"result":{"logs":["{\\"error\\":1}"],"x":{"error":null}}}');
      else if (method !== 'hangs') response.end('{"result":{"err":null}}');
    });
    const watched = watchRpc(createRpcFetch(), (method) => failed.push(method));
    const call = (method: string, signal?: AbortSignal) =>
      watched(url, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
        ...(signal && { signal }),
      });
    expect(JSON.parse(await (await call('works')).text())).to.deep.equal({ result: { err: null } });
    const quotes = JSON.parse(await (await call('quotes')).text()) as { result: { x: unknown } };
    expect(quotes.result.x).to.deep.equal({ error: null });
    expect(failed).to.deep.equal([]);
    const busy = await call('busy');
    expect([busy.status, await busy.text()]).to.deep.equal([429, 'slow down']);
    const refuses = JSON.parse(await (await call('refuses')).text()) as { error: { code: number } };
    expect(refuses.error.code).to.equal(-32005);
    expect(await (await call('breaks')).text()).to.equal('{"error":');
    expect(await call('cuts').catch((error) => error)).to.be.instanceOf(Error);
    expect((await call('hangs', AbortSignal.timeout(50)).catch((error) => error)).name).to.equal('TimeoutError');
    const closing = new AbortController();
    const ended = call('hangs', closing.signal).catch((error: Error) => error.message);
    closing.abort(new Error('closing'));
    expect(await ended).to.equal('closing');
    expect(failed).to.deep.equal(['busy', 'refuses', 'breaks', 'cuts', 'hangs']);
  });
});

describe('the figures of /metrics', () => {
  const serve = useServers();
  const market = useMarketplace({ here: true });

  /** The last relay, and its log. */
  let relay: RelayHandle;
  const lines: string[] = [];
  after(() => relay?.kill());

  const SAMPLE =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="[^"\\\n]*",?)*)\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|[+-]Inf|Na[Nn])$/;

  /** Every sample by name and labels. Throws on a line that Prometheus could not read. */
  async function scrape(url = market.relay.url): Promise<Map<string, number>> {
    const response = await fetch(`${url}/metrics`);
    expect(response.status).to.equal(200);
    const text = await response.text();
    expect(text.endsWith('\n')).to.equal(true);
    const samples = new Map<string, number>();
    const types = new Set<string>();
    for (const line of text.trimEnd().split('\n')) {
      if (line === '' || line.startsWith('# HELP ')) continue;
      const type = /^# TYPE (\S+) (?:counter|gauge|histogram|summary)$/.exec(line);
      if (type) types.add(type[1]!);
      if (line.startsWith('#')) continue;
      const [, name, labels, value] = SAMPLE.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a sample: ${line}`);
      expect(types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, '')), line).to.equal(true);
      samples.set(labels ? `${name}{${labels}}` : name, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
    }
    return samples;
  }

  const until = (what: string, isSo: (samples: Map<string, number>) => boolean): Promise<Map<string, number>> =>
    untilFound(what, async () => {
      const samples = await scrape();
      return isSo(samples) ? samples : null;
    });

  it('include every figure in the runbook, the alarms and the dashboard', async () => {
    const text = await (await fetch(`${market.relay.url}/metrics`)).text();
    const known = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    // Only with such a fee payer; tests/relay/x402/route.test.ts reads it.
    known.push('marketplace_x402_fee_payer_lamports');
    for (const file of ['docs/operating.md', 'deploy/alerts.yml', 'deploy/grafana.json']) {
      const named = readFileSync(file, 'utf8').match(/marketplace_[a-z0-9_]+/g) ?? [];
      expect(named, file).to.have.length.above(5);
      expect(known).to.include.members(named.map((name) => name.replace(/_seconds_(count|bucket)$/, '_seconds')));
    }
  });

  it('equal the calls that were made', async () => {
    const execute = (body: Record<string, unknown>) => market.execute(market.relay.url, body);
    let whenHeld: (answer: () => void) => void;
    const held = new Promise<() => void>((resolve) => {
      whenHeld = resolve;
    });
    market.setBehaviour((body, _response, reply) => {
      if (body.task === 'failing') reply(failedAnswer(body.execution_id));
      else if (body.task === 'held') {
        whenHeld(() => reply(goodAnswer(market.signingKey, body.execution_id, 'late')));
      } else if (body.task !== 'silent') reply(goodAnswer(market.signingKey, body.execution_id, 'done'));
    });
    const outcomes = (samples: Map<string, number>) =>
      ['completed', 'failed', 'timeout', 'unserved', 'void'].map((outcome) =>
        samples.get(`marketplace_call_seconds_count{outcome="${outcome}"}`),
      );
    const fresh = await scrape();
    expect(outcomes(fresh)).to.deep.equal([0, 0, 0, 0, 0]);
    for (const name of ['oldest_unsettled_seconds', 'escrow_base_units', 'listings_without_description'])
      expect(fresh.get(`marketplace_${name}`), name).to.equal(0);

    expect((await execute({ task: 'one' })).status).to.equal(200);
    expect((await execute({ task: 'two' })).status).to.equal(200);
    expect((await execute({ task: 'failing' })).status).to.equal(500);
    expect((await execute({ task: 'silent', timeout_seconds: 1 })).status).to.equal(408);
    expect((await execute({ task: 'held', async: true })).body.status).to.equal('pending');
    const busy = await until(
      'the escrow in the index',
      (samples) => samples.get('marketplace_escrow_base_units') === 250_000,
    );
    expect(outcomes(busy)).to.deep.equal([2, 1, 1, 0, 0]);
    const counted = ['executions_in_flight', 'executions_unfinished', 'executions_parked', 'refunds_waiting'];
    expect(counted.map((name) => busy.get(`marketplace_${name}`))).to.deep.equal([1, 1, 0, 0]);
    const answered = (status: number) => {
      const name = `marketplace_http_answers_total{status="${status}"}`;
      return busy.get(name)! - (fresh.get(name) ?? 0);
    };
    expect([answered(408), answered(500), answered(503)]).to.deep.equal([1, 1, 0]);
    expect(answered(200)).to.be.at.least(3);
    expect(busy.get('marketplace_oldest_unsettled_seconds')).to.be.greaterThan(0).and.lessThan(60);
    expect(busy.get('marketplace_indexer_lag_seconds')).to.be.lessThan(60);
    expect(busy.get('marketplace_fee_payer_lamports')).to.be.greaterThan(0).and.at.most(100e9);
    expect(busy.get('marketplace_fee_payer_runway_hours')).to.be.greaterThan(0);
    for (const stage of ['chain', 'creator', 'open', 'dispatch', 'verify', 'settle', 'refund']) {
      const count = busy.get(`marketplace_stage_seconds_count{stage="${stage}"}`)!;
      expect(count, stage).to.be.greaterThan(0);
      expect(busy.get(`marketplace_stage_seconds_bucket{le="+Inf",stage="${stage}"}`), stage).to.equal(count);
    }
    // The times include a creator that was silent for a second.
    expect(busy.get('marketplace_stage_seconds_sum{stage="creator"}')).to.be.greaterThan(0.9);
    expect(busy.get('process_resident_memory_bytes')).to.be.greaterThan(1e6);

    (await held)();
    const idle = await until(
      'the end of the last call',
      (samples) => samples.get('marketplace_executions_unfinished') === 0,
    );
    expect(outcomes(idle)).to.deep.equal([3, 1, 1, 0, 0]);
    // The creator was silent for a second.
    expect(idle.get('marketplace_call_seconds_sum{outcome="timeout"}')).to.be.greaterThan(1);
    // Records live for an hour.
    for (const name of ['oldest_unsettled_seconds', 'archivable_records', 'oldest_archivable_record_seconds'])
      expect(idle.get(`marketplace_${name}`), name).to.equal(0);
    await until('the escrow gone from the index', (samples) => samples.get('marketplace_escrow_base_units') === 0);
  });

  it('show how late webhooks are, and how many wait, while an endpoint answers slowly', async () => {
    const held: ServerResponse[] = [];
    let isSlow = true;
    const url = await serve((_request, response) => {
      if (isSlow) held.push(response);
      else response.end();
    });
    const as = [{ baseUrl: market.relay.url }, keypairSigner(market.callers[0]!.wallet)] as const;
    const figures = (samples: Map<string, number>) =>
      ['webhooks_waiting', 'oldest_waiting_webhook_seconds'].map((name) => samples.get(`marketplace_${name}`)!);
    expect(figures(await scrape())).to.deep.equal([0, 0]);
    // Earlier calls can be reported late, so the endpoint takes only disputes, and there are none.
    const { endpoint } = await changeWebhooks(...as, (client) =>
      client.request('createWebhook', { body: { url, event_types: ['dispute.opened'] } }),
    );
    // At most four are in progress at a time.
    for (let sent = 0; sent < 6; sent += 1)
      await changeWebhooks(...as, (client) => client.request('testWebhook', { endpoint_id: endpoint.endpoint_id }));
    const late = await until('two webhooks that wait for a second', (samples) => {
      const [waiting, seconds] = figures(samples);
      return held.length >= 4 && waiting === 2 && seconds! > 1;
    });
    expect(figures(late)[1]).to.be.lessThan(300);
    isSlow = false;
    for (const response of held) response.end();
    await until('no webhook that waits', (samples) => figures(samples).every((figure) => figure === 0));
  });

  it('count listings whose descriptions the ledger has lost, as the log says, until their creators send them again', async () => {
    const [{ document: body }] = await market.query('ledger', 'SELECT document FROM documents');
    await market.query('ledger', 'DELETE FROM documents');
    await market.relay.kill();
    relay = await market.startHere({ LOG_LEVEL: 'info' }, (text) => void lines.push(text));
    const { url } = relay;
    const read = async () => {
      const missing = (await scrape(url)).get('marketplace_listings_without_description');
      return `${missing} lost, ${(await request(url, '/v1/agents')).body.total} listed`;
    };
    expect(await read()).to.equal('1 lost, 0 listed');
    const warning = '"listings":1,"msg":"active listings have no description';
    await untilFound('the log says so', () => lines.join('').includes(warning) || null);
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${url}/v1/metadata`, { method: 'POST', headers, body })).status).to.equal(200);
    await untilFound('it is listed', async () => (await read()) === '0 lost, 1 listed' || null);
  });

  it('count refused calls by code and name the release; the log has a line for each call, and none for probes', async () => {
    const logged = (msg: string): Record<string, unknown>[] =>
      lines
        .join('')
        .split('\n')
        .filter((line) => line.includes(`"msg":"${msg}"`))
        .map((line) => JSON.parse(line));
    const { apiKey, wallet } = market.callers[0]!;
    const execute = (agent: string, key = apiKey) =>
      request(relay.url, `/v1/agents/${agent}/execute`, { apiKey: key, body: { task: 'x' } });
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'done')));
    const answer = await execute(market.agentId);
    expect(answer.status).to.equal(200);
    expect((await execute(wallet.publicKey.toBase58())).status).to.equal(404);
    expect((await execute(market.agentId, 'crtx_test_unknown')).status).to.equal(401);
    expect((await request(relay.url, '/v1/executions')).status).to.equal(401);
    for (const path of ['/health', '/ready']) await request(relay.url, path);
    const text = await (await fetch(`${relay.url}/metrics`)).text();
    const refusals = [...text.matchAll(/^marketplace_call_refusals_total\{code="(\w+)"\} (\d+)$/gm)].map(
      ([, code, count]) => [code, Number(count)],
    );
    expect(Object.fromEntries(refusals)).to.deep.equal({
      service_unavailable: 0,
      insufficient_balance: 0,
      rate_limited: 0,
      agent_not_found: 1,
      unauthorized: 1,
    });
    const health = (await request(relay.url, '/health')).body as { release: string; build: string };
    expect(text).to.include(`marketplace_build_info{release="${health.release}",build="${health.build}"} 1\n`);
    await untilFound('the line of the call', async () => logged('call ended')[0] ?? null);
    const [ended, ...others] = logged('call ended');
    expect(others).to.deep.equal([]);
    expect(ended).to.deep.include({
      execution_id: answer.body.execution_id,
      listing: market.agentId,
      wallet: wallet.publicKey.toBase58(),
      outcome: 'completed',
    });
    expect(ended!.ms).to.be.a('number').and.at.least(1);
    expect(logged('relay is ready')[0]).to.deep.include({ release: health.release, build: health.build });
    // Without those of the test before.
    const own = logged('request').filter(({ route }) => route !== '/v1/agents' && route !== '/v1/metadata');
    expect(own.map(({ code = null }) => code)).to.deep.equal([null, 'agent_not_found', 'unauthorized', 'unauthorized']);
  });
});
