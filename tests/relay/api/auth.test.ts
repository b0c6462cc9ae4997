/** API keys: a common test suite for every route that needs one, and the rules for a valid key. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { Route } from '../../../app/relay/http/routes/route.ts';
import { errorsOf, ROUTE_IDS, routeOf } from '../../../app/relay/http/routes/table.ts';
import type { ExecutionRecord } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOf, keyIdOfHash, parseApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { KEY_SCOPES } from '../../../app/sdk/wire/keyScopes.ts';
import type { StartBody } from '../../../app/sdk/wire/wire.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { sessionsOf } from './sessions.ts';

describe('sdk/apiKey', () => {
  it('creates keys of the documented form, all different, and parses them again', () => {
    const keys = Array.from({ length: 500 }, () => createApiKey('test'));
    expect(new Set(keys).size).to.equal(500);
    for (const key of keys) {
      expect(key).to.match(/^crtx_test_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
      expect(parseApiKey(key)).to.deep.equal({ environment: 'test', id: key.slice(10, 18) });
    }
    expect(parseApiKey(createApiKey('live'))?.environment).to.equal('live');
  });

  it('rejects: any single changed character, and any other length', () => {
    const key = createApiKey('test');
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1)), `at ${at}`).to.equal(null);
    }
    for (const text of ['', key.slice(1), key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`]) {
      expect(parseApiKey(text)).to.equal(null);
    }
  });

  it('derives the grant id from the first 16 bytes of the SHA-256 of the whole key', () => {
    const key = 'crtx_test_00000000_0000000000000000000000000000000000000000000000000';
    // $ printf %s crtx_test_00000000_000...  | sha256sum
    const hash = '6ff6e1525116bc0ed5976a143e5b9bca3803e5ea71da57114f7202f3d0b13829';
    expect(hashApiKey(key)).to.equal(hash);
    expect(keyIdOfHash(hash)).to.equal(hash.slice(0, 32));
    expect(Buffer.from(keyIdOf(key)).toString('hex')).to.equal(hash.slice(0, 32));
  });
});

const INVALID = 'The API key is not valid. It is malformed, unknown, revoked or expired.';

/** Every route of the table that needs a key, including future ones. */
/** True if a session may change something through the route. The access of the one public route does not say so. */
const changesForSessions = (route: Route): boolean =>
  route.method !== 'get' &&
  (['owner', 'webhooks'].includes(route.access) || errorsOf(route).includes('foreign_origin'));
const CLOSED = ROUTE_IDS.map(routeOf).filter(({ access }) => access !== 'public');

/** Sends the route's example request, with unknown ids by default. */
function ask(
  world: World,
  { method, path, params = {}, body }: Route,
  key?: string,
  ids: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const unknown: Record<string, string> = { execution_id: newExecutionId(), agent_id: newAddress() };
  const url = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? unknown[name] ?? params[name]!.example);
  const sent = body
    ? { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body.example) }
    : { headers };
  return world.call(url, { method: method.toUpperCase(), ...sent, ...(key !== undefined && { key }) });
}

describe('routes that need a key', () => {
  const world = useWorld();
  before(async () => {
    // Limits streams to 20 ms, because each answer is read to its end.
    world.streamSettings.longestMs = 20;
    await world.addChain();
  });
  /** Keys that no route accepts. */
  const invalid = ['x', 'crtx_test_', createApiKey('test')];
  before(async () => {
    const [good, revoked] = [await addKey(), await addKey()];
    const { apiKey, keyHash } = revoked;
    await world.ledger.updateTable('api_keys').set({ revoked_ms: 1n }).where('key_hash', '=', keyHash).execute();
    invalid.push(apiKey, `${good.apiKey.slice(0, -1)}${good.apiKey.endsWith('0') ? '1' : '0'}`);
    for (const changes of [{ revoked: 1n }, { expiresAt: EPOCH }, { indexed: false }] as const)
      invalid.push((await addKey(changes)).apiKey);
  });
  /** A key with all scopes. */
  const addKey = (changes: Parameters<World['addKey']>[0] = {}) =>
    world.addKey({ scopes: KEY_SCOPES.join(' '), ...changes });
  afterEach(() => {
    world.state.chainAnswers = true;
    world.state.nowMs = EPOCH * 1000;
  });

  /** A settled execution of the wallet, in journal and index, with the task of the examples. */
  async function addExecution(wallet: string): Promise<string> {
    const listing = await world.addListing();
    const { task, parameters } = routeOf('startExecution').body!.example as StartBody;
    const call = { task, parameters: parameters ?? {}, result: 'Rome' };
    // Its dispute is resolved, so its content can be deleted.
    const settled = await world.addSettled({ wallet, listing }, call, { dispute_count: 1n });
    const { execution_id, request_hash } = settled;
    // An event for the execution's stream.
    const event = { wallet, type: 'execution.completed', execution_id, listing, created_ms: 1n } as never;
    await world.ledger.insertInto('events').values(event).execute();
    const parties = { caller: new PublicKey(wallet), listing: new PublicKey(listing) };
    const record = { status: 'completed', ...parties, requestHash: Buffer.from(request_hash, 'hex') };
    world.state.records.set(execution_id, record as unknown as ExecutionRecord);
    return execution_id;
  }

  async function refuses(route: Route, key: string | undefined, outcome = '401 unauthorized'): Promise<string> {
    const answer = await ask(world, route, key);
    expect([answer.outcome, answer.json.error.execution_id]).to.deep.equal([outcome, null]);
    if (answer.status === 401) expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    return answer.json.error.message;
  }

  for (const route of CLOSED) {
    describe(`${route.method.toUpperCase()} ${route.path}`, () => {
      it('rejects: no key, a key of the other environment, and malformed, unknown, revoked and expired keys alike', async () => {
        expect(await refuses(route, undefined)).to.include('Authorization: Bearer');
        for (const key of [createApiKey('live'), 'crtx_live_'])
          expect(await refuses(route, key, '401 wrong_environment')).to.match(/test environment.*crtx_test_/);
        for (const key of invalid) expect(await refuses(route, key)).to.equal(INVALID);
      });

      it('rejects: a key without the required scope, and names the scope', async () => {
        // A key of any scope may request its own budget.
        if (route.access === 'key') return;
        const needs = route.access === 'read' || route.access === 'webhooks' ? route.access : 'execute';
        const has = needs === 'execute' ? 'read' : 'execute';
        const { apiKey } = await addKey({ scopes: has });
        const message = await refuses(route, apiKey, '403 insufficient_scope');
        expect(message).to.equal(`This API key does not have the scope "${needs}"`);
        expect((await ask(world, route, apiKey)).json.error.details).to.deep.equal({ needs, has: [has] });
      });

      it('rejects: the record of another wallet with the message for a missing record', async () => {
        const owner = await addKey();
        const executionId = await addExecution(owner.wallet);
        const { apiKey } = await addKey();
        const ids = { execution_id: executionId };
        const answer = await ask(world, route, apiKey, ids);
        expect(answer.text).to.not.include(executionId);
        if (!route.path.includes('{execution_id}')) return;
        expect(answer.outcome).to.equal('404 execution_not_found');
        expect(answer.text).to.equal((await ask(world, route, apiKey)).text);
        expect((await ask(world, route, owner.apiKey, ids)).status).to.equal(200);
      });
    });
  }

  /** One route of each kind of access. */
  for (const route of CLOSED.filter((one, at) => CLOSED.findIndex(({ access }) => access === one.access) === at)) {
    describe(`with access ${route.access}, such as ${route.method.toUpperCase()} ${route.path}`, () => {
      it('rejects: a key from the moment its grant expires', async () => {
        const { apiKey } = await addKey({ expiresAt: EPOCH + 10 });
        world.state.nowMs = (EPOCH + 10) * 1000 - 1;
        expect((await ask(world, route, apiKey)).status).to.be.oneOf([200, 404]);
        world.state.nowMs += 1;
        await refuses(route, apiKey);
      });

      it('reads the chain when the index does not have the grant yet, and returns 503 when it cannot', async () => {
        const key = await addKey({ indexed: false });
        world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key));
        expect((await ask(world, route, key.apiKey)).status).to.be.oneOf([200, 404]);
        world.state.chainAnswers = false;
        await refuses(route, key.apiKey, '503 service_unavailable');
        world.state.chainAnswers = true;
        for (const dead of [{ revoked: true }, { expiresAt: BigInt(EPOCH) }]) {
          world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key, dead));
          await refuses(route, key.apiKey);
        }
      });

      it('rejects: a key from an address that its wallet does not allow, and names the address', async () => {
        const { apiKey, keyHash } = await addKey();
        const allowed_ips = '203.0.113.0/24';
        await world.ledger.updateTable('api_keys').set({ allowed_ips }).where('key_hash', '=', keyHash).execute();
        const message = await refuses(route, apiKey, '403 address_not_allowed');
        expect(message).to.equal('This API key may not be used from the IP address 127.0.0.1');
      });

      it("accepts a key's row and a grant only when both belong to one wallet", async () => {
        const key = await addKey({ indexed: false });
        const other = await addKey();
        // Another wallet's active grant with the same key id does not count for this wallet.
        await world.index.updateTable('grants').set({ key_id: key.keyId }).where('wallet', '=', other.wallet).execute();
        await refuses(route, key.apiKey);
      });
    });
  }

  it('rejects: an Authorization that is not one bearer token, and accepts the scheme in any case', async () => {
    const { apiKey } = await world.addKey();
    const ask = async (authorization: string) =>
      (await world.call('/v1/executions', { headers: { authorization } })).outcome;
    for (const header of ['', 'Bearer', 'Bearer ', 'Basic eDp5', 'Token KEY', 'KEY', 'Bearer KEY KEY', 'BearerKEY'])
      expect(await ask(header.replaceAll('KEY', apiKey)), header).to.equal('401 unauthorized');
    // RFC 9110 requires any case.
    expect(await ask(`bearer  ${apiKey}`)).to.equal('200');
  });

  it('rejects: an expired or unknown session like any invalid key, and any payment with a session', async () => {
    const { token } = await sessionsOf(() => world).signIn(Keypair.generate());
    const agent = await world.addListing();
    const paid = await world.post(`/v1/agents/${agent}/execute`, { task: 'x' }, { key: token });
    expect(paid.outcome).to.equal('401 unauthorized');
    world.state.nowMs += 15 * 60 * 1000;
    for (const bad of [token, `${token}x`]) {
      const { outcome, json } = await world.get('/v1/executions', bad);
      expect([outcome, json.error.message]).to.deep.equal(['401 unauthorized', INVALID]);
    }
  });

  it('need no key for agents, results, metadata and health, and ignore an invalid key there', async () => {
    for (const path of ['/v1/agents', `/v1/agents/${await world.addListing()}`]) {
      expect((await world.get(path)).status).to.equal(200);
      expect((await world.get(path, 'crtx_live_x')).status).to.equal(200);
    }
  });

  for (const route of ROUTE_IDS.map(routeOf).filter(changesForSessions)) {
    it(`take the cookie of a session from our own page alone: ${route.method.toUpperCase()} ${route.path}`, async () => {
      const { cookie } = await sessionsOf(() => world).signInByCookie(Keypair.generate());
      const from = (headers: Record<string, string>) => ask(world, route, undefined, {}, { cookie, ...headers });
      for (const headers of [{}, { origin: 'https://evil.example' }] as Record<string, string>[]) {
        const { outcome, json } = await from(headers);
        expect(outcome).to.equal('403 foreign_origin');
        expect(json.error.details).to.deep.equal({ expected: world.url });
      }
      expect((await from({ origin: world.url })).status).to.be.oneOf([200, 404]);
    });
  }
});
