/**
 * Requests are limited per address, except with a key or a session of a wallet that has paid or has a listing. Routes that
 * need a key never limit a live one.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { askerOf, askerOfKey } from '../../../app/relay/access/asker.ts';
import { networkOf } from '../../../app/relay/access/clientAddress.ts';
import { createPublicLimit } from '../../../app/relay/access/publicLimit.ts';
import { readConfig } from '../../../app/relay/config.ts';
import { createHttpServer } from '../../../app/relay/http/server.ts';
import { createApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { ErrorBody } from '../../../app/sdk/wire/wire.ts';
import { EDGE_CONFIG, useWorld } from '../../harness/edge/api.ts';
import { listen } from '../../harness/edge/listen.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { sessionsOf } from './sessions.ts';

/** A rate of one a second, which any machine can exceed. MANY is more than ten seconds allow. */
const BURST = 6;
const MANY = 20;

describe('the limit for requests without a key', () => {
  let addresses = 0;
  const world = useWorld({ config: { ...EDGE_CONFIG, trustProxy: 1, publicRate: { perSecond: 1, burst: BURST } } });
  afterEach(() => {
    world.state.nowMs = EPOCH * 1000;
  });

  const newClient = () => `203.0.113.${++addresses}`;
  const send = (from: string, path: string, init: RequestInit & { key?: string } = {}) =>
    world.call(path, { ...init, headers: { ...init.headers, 'x-forwarded-for': from } });
  const sendMany = (from: string, path: string, init: RequestInit & { key?: string } = {}) =>
    Promise.all(Array.from({ length: MANY }, () => send(from, path, init)));
  const countOf = (answers: { status: number }[], status: number) =>
    answers.filter((answer) => answer.status === status).length;
  const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };

  it('answers a burst, refuses further requests with 429 and Retry-After, and counts each address separately', async () => {
    const client = newClient();
    const answers = await sendMany(client, '/v1/agents');
    expect(countOf(answers, 200)).to.be.within(BURST, MANY - 1);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(ErrorBody.parse(refused.json).error).to.include({ code: 'rate_limited', execution_id: null, details: null });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 10);
    expect(refused.headers.get('cache-control')).to.equal('no-store');
    // A page of another origin can read the reason.
    expect(refused.headers.get('access-control-allow-origin')).to.equal('*');
    expect((await send(newClient(), '/v1/agents')).status).to.equal(200);
    const procedures = await sendMany(newClient(), '/trpc/config.get');
    const turnedAway = procedures.find(({ status }) => status === 429)!;
    const { data } = turnedAway.json.error;
    expect(data).to.deep.include({ code: 'rate_limited', httpStatus: 429, details: null });
    expect(Number(turnedAway.headers.get('retry-after'))).to.be.within(1, 10);
  });

  it('also limits work in threads: a wallet that has paid has its own limit, others share that of their address', async () => {
    const { wallet } = await world.addKey();
    await world.addRecord({ caller: wallet, listing: await world.addListing() });
    const ask = (from: string, of: string | null) => {
      const request = { headers: { 'x-forwarded-for': from }, socket: { remoteAddress: '127.0.0.1' } };
      return askerOf(world.deps, request as never, of);
    };
    expect(await ask('203.0.113.1', wallet)).to.deep.equal({ lane: 'paid', name: wallet, limited: wallet });
    expect(await askerOfKey(world.deps, wallet)).to.deep.equal({ lane: 'paid', name: wallet, limited: wallet });
    const fresh = newAddress();
    expect(await askerOfKey(world.deps, fresh)).to.deep.equal({ lane: 'newcomers', name: fresh, limited: fresh });
    const network = networkOf('2001:db8:1:2::1');
    const stranger = { lane: 'strangers', name: network, limited: network };
    expect(await ask('2001:db8:1:2::1', newAddress())).to.deep.equal(stranger);
    expect(await ask('2001:db8:1:2::ff', null)).to.deep.equal(stranger);
    expect((await ask('2001:db8:1:3::1', null)).limited).to.not.equal(network);
  });

  const LIMITED: [path: string, init: RequestInit][] = [
    ['/v1/metadata', json],
    ['/ready', {}],
    ['/nowhere', {}],
    ['/v1/executions', {}],
    ['/v1/agents/x/execute', json],
    [`/v1/executions/${newExecutionId()}/start`, json],
  ];
  async function isLimited(path: string, init: RequestInit & { key?: string } = {}): Promise<void> {
    const answers = await sendMany(newClient(), path, init);
    expect(countOf(answers, 429), `${path} ${init.key}`).to.be.greaterThan(0);
  }

  it('applies to routes of every kind without a key, and to keys and cookies that are not those of a known wallet', async () => {
    for (const [path, init] of LIMITED) await isLimited(path, init);
    const [revoked, expired] = [await world.addKey({ revoked: 1n }), await world.addKey({ expiresAt: EPOCH - 1 })];
    for (const key of ['nonsense', createApiKey('test'), createApiKey('live'), revoked.apiKey, expired.apiKey])
      await isLimited('/v1/executions', { key });
    await isLimited('/v1/agents', { key: createApiKey('test') });
    const { cookie } = await sessionsOf(() => world).signInByCookie(Keypair.generate());
    // The last two accept no session.
    for (const [path, init] of [
      ['/v1/executions', {}],
      ['/v1/key', {}],
      ['/mcp', json],
    ] as typeof LIMITED)
      await isLimited(path, { ...init, headers: { ...init.headers, cookie } });
    await isLimited('/v1/executions', { headers: { cookie: 'session=x' } });
  });

  it('applies to a live key of a wallet that is not known on routes that need none, until it has paid', async () => {
    const { apiKey: key, wallet } = await world.addKey();
    const refused = async (path: string) => countOf(await sendMany(newClient(), path, { key }), 429);
    const PUBLIC = ['/v1/agents', '/nowhere', '/trpc/config.get'];
    for (const path of PUBLIC) expect(await refused(path), path).to.be.greaterThan(0);
    for (const path of ['/v1/executions', '/v1/key']) expect(await refused(path), path).to.equal(0);
    await world.addRecord({ caller: wallet, listing: await world.addListing() });
    for (const path of PUBLIC) expect(await refused(path), path).to.equal(0);
  });

  it('does not apply to a live key of a known wallet, on any route, while others use up the limit of its address', async () => {
    const { apiKey: key, wallet } = await world.addKey();
    await world.addListing({ creator: wallet });
    const client = newClient();
    const others = await sendMany(client, '/v1/agents');
    expect(countOf(others, 429)).to.be.greaterThan(0);
    const agentId = await world.addListing();
    const call = { ...json, body: JSON.stringify({ task: 'x'.repeat(27_000), async: true }), key };
    // Large bodies pass through the queue of a thread as well.
    for (let turn = 0; turn < 4; turn += 1) {
      const answer = await send(client, `/v1/agents/${agentId}/execute`, call);
      expect(answer.status, answer.text).to.equal(200);
    }
    expect(countOf(await sendMany(client, '/v1/agents', { key }), 200)).to.equal(MANY);
    expect(countOf(await sendMany(client, '/v1/executions', { key }), 200)).to.equal(MANY);
    expect(countOf(await sendMany(client, '/nowhere', { key }), 404)).to.equal(MANY);
    expect(countOf(await sendMany(client, '/trpc/config.get', { key }), 200)).to.equal(MANY);
    // An invalid request with a valid key does not count either.
    expect(countOf(await sendMany(client, '/v1/executions?limit=x', { key }), 400)).to.equal(MANY);
  });

  it('does not apply to /health and /metrics', async () => {
    const client = newClient();
    expect(countOf(await sendMany(client, '/health'), 200)).to.equal(MANY);
    expect(countOf(await sendMany(client, '/metrics'), 429)).to.equal(0);
  });

  /** The reasons for which a new limit refuses some of `count` requests that arrive at once. */
  async function refusalsOf(
    publicRate: { perSecond: number; burst: number },
    count: number,
    request: { weight?: number; isUrgent?: boolean },
    isBusy = false,
  ): Promise<string[]> {
    const config = { ...world.deps.config, publicRate };
    const limit = createPublicLimit({ ...world.deps, config, isBusy: () => isBusy });
    const bare = { url: '/', headers: {}, socket: { remoteAddress: '203.0.113.1' } };
    const all = await Promise.allSettled(Array.from({ length: count }, () => limit.admitBare(bare as never, request)));
    return all.flatMap((one) => (one.status === 'rejected' ? [one.reason.message as string] : []));
  }

  it('counts a request as many ordinary ones that cost as much, and never as more than the rate', async () => {
    const refused = async (rate: number, weight: number) =>
      (await refusalsOf({ perSecond: rate, burst: rate }, 3, { weight })).length;
    expect([await refused(6, 1), await refused(6, 3), await refused(2, 3)]).to.deep.equal([0, 1, 2]);
  });

  it('counts ten for one while many calls run, except for an urgent one, and says so', async () => {
    const rate = { perSecond: 10, burst: 20 };
    const refused = await refusalsOf(rate, 10, { isUrgent: false }, true);
    expect(new Set(refused)).to.deep.equal(
      new Set([
        'Too many requests from this IP address: at most 1 per second while many calls run without an API key or a session of a wallet that has paid or has a listing. Retry later.',
      ]),
    );
    expect(refused.length).to.equal(8);
    const others = [
      await refusalsOf(rate, 10, { isUrgent: false }),
      await refusalsOf(rate, 10, { isUrgent: true }, true),
    ];
    expect(others).to.deep.equal([[], []]);
  });

  describe('while many calls run', () => {
    const PER_SECOND = 125;
    const PAYMENT = { 'payment-signature': 'e30=' };
    let busy: Server;
    let url: string;
    before(async () => {
      const config = { ...world.deps.config, publicRate: { perSecond: PER_SECOND, burst: PER_SECOND } };
      busy = createHttpServer({ ...world.deps, config, isBusy: () => true, x402: {} as never });
      url = await listen(busy);
    });
    after(() => {
      busy.closeAllConnections();
      busy.close();
    });

    const ask = async (from: string, path: string, body: object | null, more = {}) => {
      const headers = { ...more, 'content-type': 'application/json', 'x-forwarded-for': from };
      const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {};
      const answer = await fetch(url + path, { ...sent, headers });
      await answer.arrayBuffer();
      return answer;
    };
    const refusedOf = async (path: string, body: object | null, more = {}, count = MANY) => {
      const client = newClient();
      return countOf(await Promise.all(Array.from({ length: count }, () => ask(client, path, body, more))), 429);
    };
    const message = (meta: object, name = 'run_agent', params = {}) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, _meta: meta, ...params },
    });
    const paid = (name?: string, params?: object) => message({ 'x402/payment': {} }, name, params);
    const start = () => `/v1/executions/${newExecutionId()}/start`;

    it('admits payments, starts of paid calls and probes that no other request could follow', async () => {
      const urgent: [path: string, body: object | null, more?: object][] = [
        ['/mcp', paid()],
        [start(), {}],
        ['/v1/x402/agents/x/execute', {}, PAYMENT],
        ['/ready', null],
      ];
      for (const [path, body, more] of urgent) {
        const client = newClient();
        // Together they count 120.
        await Promise.all(Array.from({ length: 12 }, () => ask(client, '/v1/agents', null)));
        expect((await ask(client, path, body, more)).status, path).to.not.equal(429);
      }
      expect(await refusedOf('/ready', null)).to.equal(0);
    });

    it('counts ten for one of all others', async () => {
      expect(await refusedOf('/mcp?approve_above_usdc=1', message({}))).to.be.greaterThan(0);
      for (const other of [paid('no tool that pays'), { ...paid(), method: 'tools/list' }])
        expect(await refusedOf('/mcp', other)).to.be.greaterThan(0);
      expect(await refusedOf('/v1/metadata', {})).to.be.greaterThan(0);
      expect(await refusedOf('/v1/x402/agents/x/execute', {})).to.be.greaterThan(0);
      expect(await refusedOf('/v1/agents', null, PAYMENT)).to.be.greaterThan(0);
    });

    it('counts a message of /mcp by its length too, with a payment or without', async () => {
      expect(await refusedOf('/mcp', paid())).to.equal(0);
      const long = { arguments: { task: 'x'.repeat(100_000) } };
      expect(await refusedOf('/mcp', paid(undefined, long))).to.be.greaterThan(0);
    });

    it('counts ten for one of payments and starts that are refused, because they cost their sender nothing', async () => {
      /** True if some are refused of fewer than the limit allows: first most of them, then the rest. */
      const areRefused = async (path: string, more?: object): Promise<boolean> => {
        const client = newClient();
        const send = (count: number) => Promise.all(Array.from({ length: count }, () => ask(client, path, {}, more)));
        const answers = [...(await send(100)), ...(await send(PER_SECOND - 101))];
        return countOf(answers, 429) > 0;
      };
      // A machine that pauses in between begins a new second.
      await until('payments are refused', () => areRefused('/v1/x402/agents/x/execute', PAYMENT));
      await until('starts are refused', () => areRefused(start()));
    });
  });

  it('does not apply to the session of a known wallet, and applies to that of any other, as token and as cookie', async () => {
    const wallet = Keypair.generate();
    const { signIn, signInByCookie } = sessionsOf(() => world);
    const { token } = await signIn(wallet);
    const { cookie } = await signInByCookie(wallet);
    const refused = async () => {
      const byToken = countOf(await sendMany(newClient(), '/trpc/keys.list', { key: token }), 429);
      return [byToken, countOf(await sendMany(newClient(), '/v1/executions', { headers: { cookie } }), 429)];
    };
    for (const count of await refused()) expect(count).to.be.greaterThan(0);
    await world.addListing({ creator: wallet.publicKey.toBase58() });
    expect(await refused()).to.deep.equal([0, 0]);
    world.state.nowMs += 3_600_000;
    for (const count of await refused()) expect(count).to.be.greaterThan(0);
  });

  it('counts the addresses of an IPv6 network together', () => {
    expect(networkOf('203.0.113.9')).to.equal('203.0.113.9');
    expect(networkOf('2001:db8:1:2:3:4:5:6')).to.equal(networkOf('2001:db8:1:2:ffff::1'));
    expect(networkOf('2001:db8:1:2::1')).to.not.equal(networkOf('2001:db8:1:3::1'));
    expect(networkOf('::ffff:cb00:7109')).to.equal('203.0.113.9');
    expect(networkOf('')).to.equal('');
  });

  it('is 50 a second with bursts of 200 by default', () => {
    const folder = mkdtempSync(join(tmpdir(), 'public-limit-'));
    const file = join(folder, 'authority.json');
    writeFileSync(file, JSON.stringify([...Keypair.generate().secretKey]));
    const rateOf = (environment: NodeJS.ProcessEnv) => readConfig({ RELAY_KEYPAIR: file, ...environment }).publicRate;
    expect(rateOf({})).to.deep.equal({ perSecond: 50, burst: 200 });
    const chosen = rateOf({ PUBLIC_RATE_PER_SECOND: '0', PUBLIC_RATE_BURST: '7' });
    expect(chosen).to.deep.equal({ perSecond: 0, burst: 7 });
    rmSync(folder, { recursive: true });
  });
});
