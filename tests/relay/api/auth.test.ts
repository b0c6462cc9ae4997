/** API keys: a common test suite for every route that needs one, and the rules for a valid key. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { Route } from '../../../app/relay/http/routes/route.ts';
import { ROUTE_IDS, routeOf } from '../../../app/relay/http/routes/table.ts';
import { type ExecutionRecord, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOf, keyIdOfHash, parseApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { hashResult, requestHash, signMessage, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { KEY_SCOPES } from '../../../app/sdk/wire/keyScopes.ts';
import type { StartBody } from '../../../app/sdk/wire/wire.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';

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

/** Every route of the table that needs a key, including future ones. */
const CLOSED = ROUTE_IDS.map(routeOf).filter(({ access }) => access !== 'public');

/** Sends the route's example request, with unknown ids by default. */
function ask(world: World, { method, path, params = {}, body }: Route, key?: string, ids: Record<string, string> = {}) {
  const unknown: Record<string, string> = { execution_id: newExecutionId(), agent_id: newAddress() };
  const url = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? unknown[name] ?? params[name]!.example);
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body.example) };
  return world.call(url, { method: method.toUpperCase(), ...sent, ...(key !== undefined && { key }) });
}

describe('routes that need a key', () => {
  const world = useWorld();
  before(async () => {
    // Limits streams to 20 ms, because each answer is read to its end.
    world.streamSettings.longestMs = 20;
    const chain = { id: 1n, genesis_hash: newAddress(), program_id: PROGRAM_ID.toBase58() };
    await world.index.insertInto('chain_meta').values(chain).execute();
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
    const hash = Buffer.from(requestHash(task, parameters));
    const row = { wallet, listing, state: 'settled' as const, request_hash: hash.toString('hex') };
    const executionId = await world.addJournal({ ...row, settled_at: BigInt(EPOCH + 3) });
    // An event for the execution's stream.
    const event = { wallet, type: 'execution.completed', execution_id: executionId, listing, created_ms: 1n };
    await world.ledger
      .insertInto('events')
      .values(event as never)
      .execute();
    // The data that its receipt needs: settled on-chain, with a result and its signature.
    const result_hash = hashResult('Rome');
    await world.addRecord({
      execution_id: executionId,
      caller: wallet,
      listing,
      result_hash: result_hash.slice('sha256:'.length),
      // Its dispute is resolved, so its content can be deleted.
      dispute_count: 1n,
    });
    await world.addResult(executionId, 'Rome', { signature: signResult(Keypair.generate().secretKey, result_hash) });
    world.state.records.set(executionId, {
      status: 'completed',
      caller: new PublicKey(wallet),
      listing: new PublicKey(listing),
      requestHash: hash,
    } as unknown as ExecutionRecord);
    return executionId;
  }

  for (const route of CLOSED) {
    const call = (world: World, key?: string, ids?: Record<string, string>) => ask(world, route, key, ids);
    describe(`${route.method.toUpperCase()} ${route.path}`, () => {
      async function refuses(key: string | undefined, code = 'unauthorized', status = 401): Promise<string> {
        const answer = await call(world, key);
        expect([answer.status, answer.json.error.code]).to.deep.equal([status, code]);
        expect(answer.json.error.execution_id).to.equal(null);
        if (status === 401) expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
        return answer.json.error.message;
      }

      it('rejects: no key', async () => {
        expect(await refuses(undefined)).to.include('Authorization: Bearer');
      });

      it('rejects: malformed, unknown, revoked and expired keys with the same message', async () => {
        const revokedHere = await addKey();
        await world.ledger
          .updateTable('api_keys')
          .set({ revoked_ms: 1n })
          .where('key_hash', '=', revokedHere.keyHash)
          .execute();
        const good = (await addKey()).apiKey;
        const keys = [
          'x',
          'crtx_test_',
          `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`,
          createApiKey('test'),
          revokedHere.apiKey,
          (await addKey({ revoked: 1n })).apiKey,
          (await addKey({ expiresAt: EPOCH })).apiKey,
          (await addKey({ indexed: false })).apiKey,
        ];
        for (const key of keys)
          expect(await refuses(key)).to.equal(
            'The API key is not valid. It is malformed, unknown, revoked or expired.',
          );
      });

      it('rejects: a key of the other environment with a message that says so, whatever follows its prefix', async () => {
        for (const key of [createApiKey('live'), 'crtx_live_', 'crtx_live_garbage']) {
          expect(await refuses(key, 'wrong_environment')).to.match(/test environment.*crtx_test_/);
        }
      });

      it('rejects: a key from the moment its grant expires', async () => {
        const { apiKey } = await addKey({ expiresAt: EPOCH + 10 });
        world.state.nowMs = (EPOCH + 10) * 1000 - 1;
        expect((await call(world, apiKey)).status).to.be.oneOf([200, 404]);
        world.state.nowMs += 1;
        await refuses(apiKey);
      });

      it('reads the chain when the index does not have the grant yet, and returns 503 when it cannot', async () => {
        const key = await addKey({ indexed: false });
        world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key));
        expect((await call(world, key.apiKey)).status).to.be.oneOf([200, 404]);
        world.state.chainAnswers = false;
        await refuses(key.apiKey, 'service_unavailable', 503);
        world.state.chainAnswers = true;
        for (const dead of [{ revoked: true }, { expiresAt: BigInt(EPOCH) }]) {
          world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key, dead));
          await refuses(key.apiKey);
        }
      });

      it('rejects: a key without the required scope, and names the scope', async () => {
        // A key of any scope may request its own budget.
        if (route.access === 'key') return;
        const needs = route.access === 'read' || route.access === 'webhooks' ? route.access : 'execute';
        const has = needs === 'execute' ? 'read' : 'execute';
        const { apiKey } = await addKey({ scopes: has });
        const message = await refuses(apiKey, 'insufficient_scope', 403);
        expect(message).to.equal(`This API key does not have the scope "${needs}"`);
        expect((await call(world, apiKey)).json.error.details).to.deep.equal({ needs, has: [has] });
      });

      it('rejects: a key from an address that its wallet does not allow, and names the address', async () => {
        const { apiKey, keyHash } = await addKey();
        const allowed_ips = '203.0.113.0/24';
        await world.ledger.updateTable('api_keys').set({ allowed_ips }).where('key_hash', '=', keyHash).execute();
        const message = await refuses(apiKey, 'address_not_allowed', 403);
        expect(message).to.equal('This API key may not be used from the IP address 127.0.0.1');
      });

      it('rejects: the record of another wallet with the message for a missing record', async () => {
        const owner = await addKey();
        const executionId = await addExecution(owner.wallet);
        const { apiKey } = await addKey();
        const ids = { execution_id: executionId };
        const answer = await call(world, apiKey, ids);
        expect(answer.text).to.not.include(executionId);
        if (!route.path.includes('{execution_id}')) return;
        expect([answer.status, answer.json.error.code]).to.deep.equal([404, 'execution_not_found']);
        expect(answer.text).to.equal((await call(world, apiKey)).text);
        expect((await call(world, owner.apiKey, ids)).status).to.equal(200);
      });

      it("accepts a key's row and a grant only when both belong to one wallet", async () => {
        const key = await addKey({ indexed: false });
        const other = await addKey();
        // Another wallet's active grant with the same key id does not count for this wallet.
        await world.index.updateTable('grants').set({ key_id: key.keyId }).where('wallet', '=', other.wallet).execute();
        await refuses(key.apiKey);
      });
    });
  }

  const HEADERS = ['', 'Bearer', 'Bearer ', 'Basic eDp5', 'Token KEY', 'KEY', 'Bearer KEY KEY', 'BearerKEY'];
  for (const header of HEADERS) {
    it(`rejects: Authorization: ${JSON.stringify(header)}`, async () => {
      const { apiKey } = await world.addKey();
      const headers = { authorization: header.replaceAll('KEY', apiKey) };
      const { status, json } = await world.call('/v1/executions', { headers });
      expect([status, json.error.code]).to.deep.equal([401, 'unauthorized']);
    });
  }

  describe("a wallet's session", () => {
    async function signIn(): Promise<{ wallet: string; token: string }> {
      const keypair = Keypair.generate();
      const wallet = keypair.publicKey.toBase58();
      const { message } = await world.deps.sessions.challenge(wallet, world.url);
      const signature = signMessage(keypair.secretKey, message).slice('ed25519:'.length);
      return { wallet, token: (await world.deps.sessions.verify({ wallet, message, signature })).token };
    }

    it('reads all executions of its own wallet, and none of another', async () => {
      const { wallet, token } = await signIn();
      const listing = await world.addListing();
      const own = await world.addJournal({ wallet, listing, state: 'settled', settled_at: BigInt(EPOCH + 3) });
      await world.addResult(own, 'Rome');
      const others = await world.addJournal({ wallet: newAddress(), listing, state: 'settled' });
      expect((await world.get(`/v1/executions/${own}`, token)).json).to.include({
        status: 'completed',
        result: 'Rome',
      });
      const { json } = await world.get('/v1/executions', token);
      expect(json.executions.map((row: { execution_id: string }) => row.execution_id)).to.deep.equal([own]);
      expect((await world.get(`/v1/executions/${others}`, token)).status).to.equal(404);
    });

    it('rejects: an expired or unknown session like any invalid key', async () => {
      const { token } = await signIn();
      world.state.nowMs += 15 * 60 * 1000;
      for (const bad of [token, `${token}x`]) {
        const { status, json } = await world.get('/v1/executions', bad);
        expect([status, json.error.code, json.error.message]).to.deep.equal([
          401,
          'unauthorized',
          'The API key is not valid. It is malformed, unknown, revoked or expired.',
        ]);
      }
    });

    it('rejects: any payment with a session', async () => {
      const { token } = await signIn();
      const agent = await world.addListing();
      const { status } = await world.post(`/v1/agents/${agent}/execute`, { task: 'x' }, { key: token });
      expect(status).to.equal(401);
    });
  });

  it('accepts the scheme in any case, as RFC 9110 requires', async () => {
    const { apiKey } = await world.addKey();
    const { status } = await world.call('/v1/executions', { headers: { authorization: `bearer  ${apiKey}` } });
    expect(status).to.equal(200);
  });

  it('need no key for agents, results, metadata and health, and ignore an invalid key there', async () => {
    for (const path of ['/v1/agents', `/v1/agents/${await world.addListing()}`]) {
      expect((await world.get(path)).status).to.equal(200);
      expect((await world.get(path, 'crtx_live_x')).status).to.equal(200);
    }
  });

  it('record the last use of a key without delaying the request', async () => {
    const { apiKey, keyHash } = await world.addKey();
    world.state.nowMs = EPOCH * 1000 + 123;
    await world.get('/v1/executions', apiKey);
    await world.deps.keyUse.flush();
    const row = await world.ledger
      .selectFrom('api_keys')
      .select('last_used_ms')
      .where('key_hash', '=', keyHash)
      .executeTakeFirstOrThrow();
    expect(row.last_used_ms).to.equal(BigInt(EPOCH * 1000 + 123));
  });
});
