/** Webhook endpoints over the API: their owners, limits and keys. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { MAX_OF_STRANGERS } from '../../../../app/relay/events/endpoints.ts';
import { readDelivery, repeatDelivery } from '../../../../app/relay/ledger/webhooks.ts';
import { AgentMarketplace, NotFoundError } from '../../../../app/sdk/client/caller.ts';
import type { Client } from '../../../../app/sdk/client/client.ts';
import { newAddress } from '../../../harness/edge/rows.ts';
import { refusal, refusedAs } from '../sessions.ts';
import { SECRET, useWebhooks } from './scene.ts';

describe('webhook endpoints', () => {
  const scene = useWebhooks();
  const { world, people, clientOf, send, mine, create, endpoints, log, execute, addEndpoints } = scene;

  it('stores and calls a URL in its normal form', async () => {
    const { endpoint } = await create([], 'https://Example.com/\r\nX-Evil: 1');
    expect(endpoint.url).to.equal('https://example.com/X-Evil:%201');
    const { url } = await (await mine()).request('updateWebhook', {
      endpoint_id: endpoint.endpoint_id,
      body: { url: ' http://EXAMPLE.com:80/\ta b\n' },
    });
    expect(url).to.equal('http://example.com/a%20b');
  });

  it('rejects: an endpoint too many, another wallet’s, a bad URL, and too many tests', async () => {
    const { endpoint } = await create();
    const { endpoint_id } = endpoint;
    for (let count = 1; count < 10; count += 1) await create();
    const full = await refusal(create());
    expect([full.status, full.code, full.details]).to.deep.equal([409, 'webhook_limit_reached', { max: 10 }]);
    const stranger = await clientOf(Keypair.generate());
    const another = () => stranger.request('createWebhook', { body: { url: scene.receiver.url } });
    await another();
    expect((await refusal(another())).details).to.deep.equal({ max: 1 });
    const changing = ['deleteWebhook', 'rotateWebhookSecret', 'testWebhook'] as const;
    const routes = ['getWebhook', 'listWebhookDeliveries', ...changing] as const;
    for (const id of [endpoint_id, 'we_0', 'we_\u0000']) {
      for (const route of routes)
        expect(await refusedAs(stranger.request(route, { endpoint_id: id })), route).to.equal('404 webhook_not_found');
      const update = stranger.request('updateWebhook', { endpoint_id: id, body: { enabled: false } });
      expect(await refusedAs(update), 'updateWebhook').to.equal('404 webhook_not_found');
    }
    await (await mine()).request('testWebhook', { endpoint_id });
    await send();
    const [{ delivery_id } = { delivery_id: '' }] = await log(endpoint_id);
    for (const id of [delivery_id, 'dlv_0', 'dlv_99999999999999999999', 'x']) {
      const again = stranger.request('redeliverWebhook', { delivery_id: id });
      expect(await refusedAs(again), id).to.equal('404 webhook_not_found');
    }
    const refuses = async (...urls: string[]) => {
      for (const url of urls) expect(await refusedAs(create([], url)), url).to.equal('400 invalid_request');
    };
    await refuses('ftp://a.example/', 'https://user:word@a.example/', 'no url');
    world.deps.config.allowPrivateEndpoints = false;
    await refuses('http://a.example/', 'https://127.0.0.1/', 'https://a.example:80/');
    world.deps.config.allowPrivateEndpoints = true;
    for (let count = 1; count < 30; count += 1) await (await mine()).request('testWebhook', { endpoint_id });
    const tired = await refusal((await mine()).request('testWebhook', { endpoint_id }));
    expect(tired).to.include({ status: 429, code: 'rate_limited' });
    // Ten minutes from the first test.
    expect(tired.retryAfterSeconds).to.be.within(1, 600);
  });

  it('counts the tests of all wallets that have not paid together, but not those of a paying wallet', async () => {
    const testOf = async (client: Client) => {
      const { endpoint } = await client.request('createWebhook', { body: { url: scene.receiver.url } });
      return () => client.request('testWebhook', { endpoint_id: endpoint.endpoint_id });
    };
    const strangers = await Promise.all([1, 2, 3].map(async () => testOf(await clientOf(Keypair.generate()))));
    for (let count = 0; count < 20; count += 1) for (const test of strangers) await test();
    expect(await refusedAs(strangers[0]!())).to.equal('429 rate_limited');
    await (await testOf(await mine()))();
  });

  it('drops the oldest endpoint of the network with the most, if wallets that never paid have too many', async () => {
    const [first, paidSince, second] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
    const addresses = [first, paidSince, second].map(({ publicKey }) => publicKey.toBase58());
    const ids = await addEndpoints(MAX_OF_STRANGERS - 10, (n) => ({
      created_ms: BigInt(n),
      ...(n < 3 && { wallet: addresses[n]! }),
    }));
    const small = await addEndpoints(10, () => ({ network: 'a small network', created_ms: 0n }));
    await world.addRecord({ caller: paidSince.publicKey.toBase58(), listing: await world.addListing() });
    const mineToo = (await create()).endpoint.endpoint_id;
    const left = async () => {
      const rows = await world.ledger.selectFrom('webhook_endpoints').select('endpoint_id').execute();
      return new Set(rows.map(({ endpoint_id }) => endpoint_id));
    };
    expect((await left()).size).to.equal(MAX_OF_STRANGERS + 1);
    const added: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const stranger = await clientOf(Keypair.generate());
      added.push((await stranger.request('createWebhook', { body: { url: scene.receiver.url } })).endpoint.endpoint_id);
    }
    const now = await left();
    expect(ids.filter((id) => !now.has(id))).to.deep.equal([ids[0], ids[2]]);
    expect([...small, ...added, mineToo].filter((id) => !now.has(id))).to.deep.equal([]);
  });

  describe('of an API key', () => {
    type Sent = Record<string, unknown>;
    const ask = (key: string, method: string, path: string, body?: Sent) => {
      const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return world.call(`/v1/webhooks${path}`, { method, key, ...sent });
    };
    /** A key with the scope for webhooks alone. */
    async function addKey(): Promise<string> {
      const { apiKey, keyId } = await world.addKey({
        wallet: scene.wallet,
        expiresAt: Math.ceil(Date.now() / 1_000) + 3_600,
      });
      await (await people.signIn(scene.keypair)).call('keys.update', { key_id: keyId, scopes: ['webhooks'] });
      return apiKey;
    }

    it('are managed with the scope alone, which neither pays nor reads', async () => {
      const apiKey = await addKey();
      const { webhooks } = new AgentMarketplace({ baseUrl: world.url, apiKey });
      const chosen = { url: scene.receiver.url, event_types: ['execution.completed' as const] };
      const { endpoint, secret } = await webhooks.create(chosen);
      expect(endpoint).to.deep.include({ ...chosen, status: 'active' });
      const one = endpoint.endpoint_id;
      expect(await webhooks.retrieve(one)).to.deep.equal(endpoint);
      expect(await webhooks.list()).to.deep.equal([endpoint]);
      await webhooks.test(one);
      await execute('dispatched', 'settled');
      await send();
      const pages = [];
      for await (const page of webhooks.deliveries(one, { limit: 1 }).pages()) pages.push(page);
      expect(pages.map(({ items, ...page }) => [items[0]!.event_type, page])).to.deep.equal([
        ['execution.completed', { total: 2, limit: 1, offset: 0 }],
        ['webhook.test', { total: 2, limit: 1, offset: 1 }],
      ]);
      const sent = pages[0]!.items[0]!;
      expect(await webhooks.redeliver(sent.delivery_id)).to.include({ event_id: sent.event_id, attempts: 0 });
      expect((await webhooks.rotateSecret(one)).secret)
        .to.match(SECRET)
        .and.not.to.equal(secret);
      const moved = { url: `${scene.receiver.url}/2`, event_types: [] };
      expect(await webhooks.update(one, moved)).to.deep.include({ ...moved, status: 'active' });
      const unread = await world.get('/v1/executions', apiKey);
      const unpaid = await world.post(`/v1/agents/${newAddress()}/execute`, { task: 'x' }, { key: apiKey });
      for (const { outcome } of [unread, unpaid]) expect(outcome).to.equal('403 insufficient_scope');
      await webhooks.delete(one);
      expect(await webhooks.retrieve(one).catch((error: unknown) => error)).to.be.instanceOf(NotFoundError);
    });

    it('rejects: bodies and queries that do not fit, and names what is wrong', async () => {
      const apiKey = await addKey();
      const { endpoint } = await create();
      const one = `/${endpoint.endpoint_id}`;
      const wrong: [string, string, Sent | undefined, string][] = [
        ['POST', '', {}, 'The field "url" is missing'],
        ['POST', '', { url: scene.receiver.url, secret: 'mine' }, 'Unknown field "secret"'],
        ['POST', '', { url: 5 }, 'The field "url" must be a string; got 5'],
        ['POST', '', { url: scene.receiver.url, event_types: 'all' }, 'The field "event_types" must be an array; got'],
        ['PATCH', one, { enabled: 'yes' }, 'The field "enabled" must be true or false; got "yes"'],
        ['PATCH', one, { endpoint_id: 'x' }, 'Unknown field "endpoint_id"'],
        ['GET', `${one}/deliveries?limit=0`, undefined, 'must be an integer from 1 to 100'],
        ['POST', `${one}/test?now=1`, undefined, 'no query parameter "now"'],
      ];
      for (const [method, path, body, message] of wrong) {
        const { outcome, json } = await ask(apiKey, method, path, body);
        expect(outcome, `${method} ${path}`).to.equal('400 invalid_request');
        expect(json.error.message).to.include(message);
      }
      expect(await endpoints()).to.deep.equal([endpoint]);
    });
  });

  it('deletes an endpoint with its log, and repeats none of its deliveries', async () => {
    const { endpoint } = await create();
    const { endpoint_id } = endpoint;
    await execute();
    await send();
    const [delivery] = await log(endpoint_id);
    const id = BigInt(delivery!.delivery_id.slice('dlv_'.length));
    const row = (await readDelivery(world.ledger, scene.wallet, id))!;
    expect(await (await mine()).request('deleteWebhook', { endpoint_id })).to.deep.equal({ endpoint_id });
    expect(await repeatDelivery(world.ledger, row, world.state.nowMs)).to.equal(null);
    await execute();
    await send();
    expect(scene.receiver.received.length).to.equal(1);
    expect(await world.ledger.selectFrom('webhook_deliveries').select('id').execute()).to.deep.equal([]);
  });
});
