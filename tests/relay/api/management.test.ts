/** /trpc through the SDK's own client: sessions of wallets, keys, the deployment's facts and the Test Execution tool. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { createClient, createManagementClient, MarketplaceError } from '../../../app/sdk/client/client.ts';
import { createExecutionHandler, generateSigningKey, signingKeyAddress } from '../../../app/sdk/creator/creator.ts';
import { findTreasury, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOfHash } from '../../../app/sdk/receipt/apiKey.ts';
import { hashResult, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { CONFIG, grantAccount } from '../../harness/edge/accounts.ts';
import { EXPLORER_QUERY, startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf, newAddress } from '../../harness/edge/rows.ts';

async function refusal(call: Promise<unknown>): Promise<MarketplaceError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MarketplaceError)) throw new Error(`expected a refusal, not ${String(error)}`);
  return error;
}

describe('/trpc', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  afterEach(() => {
    world.state.chainAnswers = true;
    world.state.nowMs = EPOCH * 1000;
    world.state.revoked.length = 0;
  });
  after(() => world.stop());

  const anonymous = () => createManagementClient({ baseUrl: world.url });
  const sign = (wallet: Keypair, message: string): string =>
    bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), wallet.secretKey));

  async function signIn(wallet: Keypair) {
    const address = wallet.publicKey.toBase58();
    const { message } = await anonymous().call('auth.challenge', { wallet: address });
    const answer = { wallet: address, message, signature: sign(wallet, message) };
    const { token } = await anonymous().call('auth.verify', answer);
    return { ...createManagementClient({ baseUrl: world.url, session: token }), token };
  }

  /** A key whose grant is on-chain and in the index, not yet registered. */
  async function grantedKey(wallet = newAddress()) {
    const apiKey = createApiKey('test');
    const keyHash = hashApiKey(apiKey);
    const key = { wallet, apiKey, keyHash, keyId: keyIdOfHash(keyHash) };
    world.state.grants.set(`${wallet}:${key.keyId}`, grantAccount(key));
    return key;
  }

  const register = (key: { wallet: string; keyHash: string }, name = 'laptop') =>
    anonymous().call('keys.register', { wallet: key.wallet, key_hash: key.keyHash, name });

  describe('config.get', () => {
    it('tells what a client must know, from the chain', async () => {
      expect(await anonymous().call('config.get')).to.deep.equal({
        environment: 'test',
        program_id: PROGRAM_ID.toBase58(),
        usdc_mint: CONFIG.usdcMint.toBase58(),
        relay_authority: CONFIG.relayAuthority.toBase58(),
        treasury: findTreasury().toBase58(),
        rpc_url: 'http://127.0.0.1:8899',
        explorer_query: EXPLORER_QUERY,
        egress_ips: ['203.0.113.7'],
        fee_bps: 100,
        min_price_usdc: 0.01,
        max_timeout_seconds: 3600,
        dispute_window_seconds: 259_200,
        collateral_tiers: [
          { max_price_usdc: 1, deposit_usdc: 5 },
          { max_price_usdc: 10, deposit_usdc: 25 },
        ],
      });
    });

    it('rejects: with 503 while the chain does not answer', async () => {
      world.state.chainAnswers = false;
      world.state.nowMs += 2_000;
      expect(await refusal(anonymous().call('config.get'))).to.include({ status: 503, code: 'service_unavailable' });
    });
  });

  describe('sessions', () => {
    it('open for a wallet that signs a message naming this host, the wallet and an end', async () => {
      const wallet = Keypair.generate();
      const address = wallet.publicKey.toBase58();
      const { message, expires_at } = await anonymous().call('auth.challenge', { wallet: address });
      expect(message).to.include(`127.0.0.1:${world.port} wants you to sign in`);
      expect(message.split('\n')[1]).to.equal(address);
      expect(message).to.include(`Expiration Time: ${expires_at}`);
      expect(Date.parse(expires_at)).to.equal(world.state.nowMs + 300_000);
      const session = await anonymous().call('auth.verify', {
        wallet: address,
        message,
        signature: sign(wallet, message),
      });
      expect(Date.parse(session.expires_at)).to.equal(world.state.nowMs + 900_000);
      const client = createManagementClient({ baseUrl: world.url, session: session.token });
      expect(await client.call('keys.list')).to.deep.equal({ keys: [] });
    });

    it('end after 15 minutes', async () => {
      const client = await signIn(Keypair.generate());
      world.state.nowMs += 900_000 - 1;
      await client.call('keys.list');
      world.state.nowMs += 1;
      expect(await refusal(client.call('keys.list'))).to.include({ status: 401, code: 'unauthorized' });
    });

    it('rejects: a signature of another wallet, a changed, used, expired or foreign message', async () => {
      const [wallet, other] = [Keypair.generate(), Keypair.generate()];
      const address = wallet.publicKey.toBase58();
      const challenge = async () => (await anonymous().call('auth.challenge', { wallet: address })).message;
      const verify = (message: string, signature: string, of = address) =>
        anonymous().call('auth.verify', { wallet: of, message, signature });
      const message = await challenge();

      const forged = 'a.example wants you to sign in with your Solana account:\n';
      const later = message.replace(/Time: 2025/, 'Time: 2035');
      const attempts: [string, string, string?][] = [
        [message, sign(other, message)],
        [message, sign(wallet, message), other.publicKey.toBase58()],
        [message, sign(other, message), other.publicKey.toBase58()],
        [later, sign(wallet, later)],
        [forged, sign(wallet, forged)],
        [`${message}\n`, sign(wallet, `${message}\n`)],
      ];
      for (const [text, signature, of] of attempts) {
        expect(await refusal(verify(text, signature, of))).to.include({ status: 401, code: 'unauthorized' });
      }
      await verify(message, sign(wallet, message));
      expect(await refusal(verify(message, sign(wallet, message)))).to.include({ code: 'unauthorized' });
      const stale = await challenge();
      world.state.nowMs += 300_000;
      expect(await refusal(verify(stale, sign(wallet, stale)))).to.include({ code: 'unauthorized' });
    });

    it('rejects: procedures of wallets without a token, with a wrong one, or with an API key', async () => {
      for (const session of [undefined, 'x', (await world.addKey()).apiKey]) {
        const client = createManagementClient({ baseUrl: world.url, ...(session ? { session } : {}) });
        expect(await refusal(client.call('keys.list'))).to.include({ status: 401, code: 'unauthorized' });
        const key_id = '00'.repeat(16);
        expect(await refusal(client.call('keys.revoke', { key_id }))).to.include({ code: 'unauthorized' });
        const input = { metadata_hash: '00'.repeat(32), signing_key: newAddress() };
        expect(await refusal(client.call('listings.test', input))).to.include({ code: 'unauthorized' });
      }
    });
  });

  describe('keys', () => {
    it('work once registered, and registering again changes nothing', async () => {
      const key = await grantedKey();
      const rest = createClient({ baseUrl: world.url, apiKey: key.apiKey });
      expect(await refusal(rest.listExecutions())).to.include({ status: 401, code: 'unauthorized' });
      expect(await register(key, 'laptop')).to.deep.equal({ key_id: key.keyId, name: 'laptop' });
      expect(await register(key, 'another name')).to.deep.equal({ key_id: key.keyId, name: 'laptop' });
      expect((await rest.listExecutions()).total).to.equal(0);
    });

    it('rejects: keys without a live grant of that very wallet, and rows stay as they were', async () => {
      const key = await grantedKey();
      const address = `${key.wallet}:${key.keyId}`;
      const refused = { status: 400, code: 'invalid_request' };
      expect(await refusal(register({ ...key, wallet: newAddress() }))).to.include(refused);
      expect(await refusal(register({ ...key, keyHash: hashApiKey('another') }))).to.include(refused);
      for (const dead of [{ revoked: true }, { expiresAt: BigInt(EPOCH) }]) {
        world.state.grants.set(address, grantAccount({ ...key }, dead));
        expect(await refusal(register(key))).to.include(refused);
      }
      world.state.chainAnswers = false;
      expect(await refusal(register(key))).to.include({ status: 503, code: 'service_unavailable' });
      const rows = await world.ledger.selectFrom('api_keys').selectAll().where('wallet', '=', key.wallet).execute();
      expect(rows).to.deep.equal([]);
    });

    it('rejects: malformed wallets, hashes and names, naming the field', async () => {
      const key = await grantedKey();
      const good = { wallet: key.wallet, key_hash: key.keyHash, name: 'x' };
      const bad: [object, string][] = [
        [{ wallet: 'x' }, '"wallet"'],
        [{ wallet: '1'.repeat(40) }, '"wallet"'],
        [{ key_hash: key.keyHash.toUpperCase() }, '"key_hash"'],
        [{ key_hash: 'ab' }, '"key_hash"'],
        [{ name: '' }, '"name"'],
        [{ name: 'n'.repeat(65) }, '"name"'],
        [{ name: 'a\nb' }, '"name"'],
        [{ extra: 1 }, '"extra"'],
      ];
      for (const [changes, says] of bad) {
        const error = await refusal(anonymous().call('keys.register', { ...good, ...changes }));
        expect(error).to.include({ status: 400, code: 'invalid_request' });
        expect(error.message).to.include(says);
      }
    });

    it('are listed for their wallet only, with what the chain says they spent', async () => {
      const wallet = Keypair.generate();
      const mine = await world.addKey({ wallet: wallet.publicKey.toBase58() });
      await world.addKey();
      world.state.nowMs = EPOCH * 1000 + 5_000;
      await world.get('/v1/executions', mine.apiKey);
      expect(await (await signIn(wallet)).call('keys.list')).to.deep.equal({
        keys: [
          {
            key_id: mine.keyId,
            name: 'laptop',
            created_at: new Date(EPOCH * 1000).toISOString(),
            last_used_at: new Date(EPOCH * 1000 + 5_000).toISOString(),
            expires_at: new Date((EPOCH + 1000) * 1000).toISOString(),
            execution_count: 4,
            total_spent_usdc: 1.25,
            scopes: ['execute', 'read'],
            allowed_ips: null,
            revoked: false,
          },
        ],
      });
    });

    it('end with their revocation, here at once and on-chain too', async () => {
      const wallet = Keypair.generate();
      const key = await grantedKey(wallet.publicKey.toBase58());
      await register(key);
      const rest = createClient({ baseUrl: world.url, apiKey: key.apiKey });
      await rest.listExecutions();
      const session = await signIn(wallet);
      expect(await session.call('keys.revoke', { key_id: key.keyId })).to.deep.equal({
        key_id: key.keyId,
        on_chain: { signature: 'revokeSignature', error: null },
      });
      expect(world.state.revoked).to.deep.equal([`${key.wallet}:${key.keyId}`]);
      expect(await refusal(rest.listExecutions())).to.include({ status: 401, code: 'unauthorized' });
      expect((await session.call('keys.list')).keys[0]).to.include({ revoked: true });
      // The grant may live on for a moment on-chain; that must not bring the key back.
      expect(await refusal(register(key))).to.include({ status: 400 });
    });

    it('end here also when the chain does not answer, which is reported', async () => {
      const wallet = Keypair.generate();
      const key = await grantedKey(wallet.publicKey.toBase58());
      await register(key);
      const session = await signIn(wallet);
      world.state.chainAnswers = false;
      const { on_chain } = await session.call('keys.revoke', { key_id: key.keyId });
      expect(on_chain.signature).to.equal(null);
      expect(on_chain.error).to.include('could not be revoked on-chain');
      const { status } = await world.get('/v1/executions', key.apiKey);
      expect(status).to.equal(401);
    });

    it("rejects: revoking what this wallet does not have, another wallet's key included", async () => {
      const key = await grantedKey();
      await register(key);
      const session = await signIn(Keypair.generate());
      expect(await refusal(session.call('keys.revoke', { key_id: key.keyId }))).to.include({
        status: 404,
        code: 'not_found',
      });
      expect((await world.get('/v1/executions', key.apiKey)).status).to.equal(200);
    });

    it('that are used survive a flood of hashes which strangers register for the same grant', async () => {
      const key = await grantedKey();
      await register(key);
      expect((await world.get('/v1/executions', key.apiKey)).status).to.equal(200);
      for (let n = 0; n < 20; n += 1) {
        world.state.nowMs += 1;
        await register({ wallet: key.wallet, keyHash: key.keyId + n.toString(16).padStart(32, '0') });
      }
      const rows = await world.ledger
        .selectFrom('api_keys')
        .select('key_hash')
        .where('wallet', '=', key.wallet)
        .execute();
      expect(rows.map((row) => row.key_hash)).to.include(key.keyHash);
      expect(rows).to.have.length(9);
    });
  });

  describe('listings.test', () => {
    const signingKey = generateSigningKey();
    const signing_key = signingKeyAddress(signingKey);

    /** A creator's server for one test, and the hash of a document that names it, posted by the session. */
    async function withCreator<T>(
      handler: RequestListener,
      token: string | undefined,
      use: (metadataHash: string, endpoint: string) => Promise<T>,
    ): Promise<T> {
      const server = createServer(handler).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/execute`;
      try {
        const rest = createClient({ baseUrl: world.url });
        const { metadata_hash } = await rest.postMetadata(encodeMetadata(metadataOf({ endpoint })), token);
        return await use(metadata_hash, endpoint);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    }

    /** Answers as a creator would, with some fields changed. */
    function answering(changes: Record<string, unknown>): RequestListener {
      return async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const { execution_id, task } = JSON.parse(Buffer.concat(chunks).toString());
        const result_hash = hashResult(task);
        const good = { execution_id, status: 'completed', result: task, result_hash };
        const answer = { ...good, signature: signResult(signingKey, result_hash), ...changes };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      };
    }

    async function run(handler: RequestListener, input: object = {}) {
      const session = await signIn(Keypair.generate());
      return withCreator(handler, session.token, (metadata_hash) =>
        session.call('listings.test', { metadata_hash, signing_key, ...input }),
      );
    }

    it('finds nothing wrong with a good server, and says so check by check', async () => {
      const handler = createExecutionHandler({ signingKey, execute: ({ task }) => ({ result: `did ${task}` }) });
      const { ok, checks } = await run(handler, { task: 'it', parameters: { any: 1 } });
      expect(ok).to.equal(true);
      const names = ['metadata', 'reachable', 'json', 'execution_id', 'status', 'result_hash', 'signature'];
      expect(checks.map((check) => check.name)).to.deep.equal(names);
      for (const check of checks) expect(check.ok, check.detail).to.equal(true);
    });

    it('sends the synthetic task to the endpoint in the shape of a paid one', async () => {
      let received: Record<string, unknown> = {};
      const handler = createExecutionHandler({
        signingKey,
        execute: (request) => {
          received = { ...request };
          return { result: '' };
        },
      });
      await run(handler, { task: 'hello', parameters: { a: 1 } });
      expect(received.task).to.equal('hello');
      expect(received.timeoutSeconds).to.be.oneOf([29, 30]);
      expect(received.parameters).to.deep.equal({ a: 1 });
      expect(received.executionId).to.match(/^[0-9a-f-]{36}$/);
    });

    const signature = signResult(generateSigningKey(), hashResult('test'));
    const FAULTS: [name: string, handler: RequestListener, check: string, says: string][] = [
      ['an HTTP error', (_, response) => void response.writeHead(500).end(), 'reachable', '500'],
      ['no JSON', (_, response) => void response.end('<html>'), 'json', 'not valid JSON'],
      ['null', (_, response) => void response.end('null'), 'execution_id', 'must equal'],
      ['another execution_id', answering({ execution_id: 'x' }), 'execution_id', 'must equal'],
      ['no status', answering({ status: undefined }), 'status', 'must be completed'],
      ['no result', answering({ result: undefined }), 'status', 'must be completed'],
      [
        'a failure',
        answering({ status: 'failed', result: null, result_hash: null, signature: null, error: 'no model' }),
        'status',
        'no model',
      ],
      ['another hash', answering({ result_hash: hashResult('y') }), 'result_hash', 'must be "sha256:"'],
      ['an upper-case hash', answering({ result_hash: hashResult('test').toUpperCase() }), 'result_hash', 'must be'],
      ['no signature', answering({ signature: undefined }), 'signature', 'must be "ed25519:"'],
      ["another key's signature", answering({ signature }), 'signature', 'must be "ed25519:"'],
    ];
    for (const [name, handler, check, says] of FAULTS) {
      it(`finds ${name}`, async () => {
        const { ok, checks } = await run(handler);
        const last = checks.at(-1)!;
        expect(ok).to.equal(false);
        expect([last.name, last.ok]).to.deep.equal([check, false]);
        expect(last.detail).to.include(says);
        expect(checks.slice(0, -1).every((earlier) => earlier.ok)).to.equal(true);
      });
    }

    const good = () => createExecutionHandler({ signingKey, execute: () => ({ result: 'r' }) });
    /** Counts what reaches the creator. */
    function counting(handler: RequestListener): { calls: () => number; handler: RequestListener } {
      let calls = 0;
      return {
        calls: () => calls,
        handler: (request, response) => {
          calls += 1;
          handler(request, response);
        },
      };
    }
    const checksOf = (answer: { checks: { name: string; ok: boolean }[] }) =>
      answer.checks.map(({ name, ok }) => `${name} ${ok}`);

    it('makes nobody work for a stranger, listed or not, whoever posted the bytes', async () => {
      const owner = await signIn(Keypair.generate());
      const stranger = await signIn(Keypair.generate());
      const { calls, handler } = counting(good());
      await withCreator(handler, owner.token, async (metadata_hash, endpoint) => {
        const bytes = encodeMetadata(metadataOf({ endpoint }));
        const ask = () => stranger.call('listings.test', { metadata_hash, signing_key });
        expect(checksOf(await ask())).to.deep.equal(['metadata false']);
        await createClient({ baseUrl: world.url }).postMetadata(bytes);
        expect(checksOf(await ask())).to.deep.equal(['metadata false']);
        await world.addListing({ metadata_hash, creator: newAddress() }, null);
        await createClient({ baseUrl: world.url }).postMetadata(bytes, stranger.token);
        expect(checksOf(await ask())).to.deep.equal(['metadata false']);
        expect(calls()).to.equal(0);
      });
    });

    it("tests a listing for its creator, and waits as long as the listing's own timeout", async () => {
      const wallet = Keypair.generate();
      const session = await signIn(wallet);
      const waits: unknown[] = [];
      const handler = createExecutionHandler({
        signingKey,
        execute: ({ timeoutSeconds }) => {
          waits.push(timeoutSeconds);
          return { result: 'r' };
        },
      });
      await withCreator(handler, undefined, async (metadata_hash) => {
        await world.addListing({ metadata_hash, creator: wallet.publicKey.toBase58(), timeout_seconds: 1_200n }, null);
        const ask = (timeout: { timeout_seconds?: number }) =>
          session.call('listings.test', { metadata_hash, signing_key, ...timeout });
        expect((await ask({})).ok).to.equal(true);
        expect((await ask({ timeout_seconds: 3_600 })).ok).to.equal(true);
        expect(waits).to.satisfy(([one, two]: number[]) => one! >= 1_199 && one! <= 1_200 && two! >= 3_599);
        const refused = await refusal(ask({ timeout_seconds: 3_601 }));
        expect(refused).to.include({ status: 400, code: 'invalid_request' });
        expect(refused.message).to.include('must be at most 3600');
      });
    });

    it('tests one endpoint ten times in ten minutes and no more, whichever wallet asks', async () => {
      const { calls, handler } = counting(good());
      const first = await signIn(Keypair.generate());
      await withCreator(handler, first.token, async (metadata_hash, endpoint) => {
        for (let n = 0; n < 10; n += 1) await first.call('listings.test', { metadata_hash, signing_key });
        const second = await signIn(Keypair.generate());
        const other = encodeMetadata(metadataOf({ endpoint, name: 'other' }));
        const posted = await createClient({ baseUrl: world.url }).postMetadata(other, second.token);
        for (const [session, hash] of [
          [first, metadata_hash],
          [second, posted.metadata_hash],
        ] as const) {
          const input = { metadata_hash: hash, signing_key };
          const answer = await world.post('/trpc/listings.test', input, { key: session.token });
          expect([answer.status, answer.json.error.data.code]).to.deep.equal([429, 'rate_limited']);
          expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 600);
        }
        expect(calls()).to.equal(10);
      });
    });

    it('tests for one wallet thirty times in ten minutes and no more', async () => {
      const session = await signIn(Keypair.generate());
      for (let n = 0; n < 4; n += 1) {
        await withCreator(good(), session.token, async (metadata_hash) => {
          const ask = () => session.call('listings.test', { metadata_hash, signing_key });
          if (n === 3) expect(await refusal(ask())).to.include({ status: 429, code: 'rate_limited' });
          else for (let m = 0; m < 10; m += 1) await ask();
        });
      }
    });

    it('finds a document that is not stored, and parameters that do not fit', async () => {
      const session = await signIn(Keypair.generate());
      const unknown = await session.call('listings.test', { metadata_hash: 'ab'.repeat(32), signing_key });
      expect(unknown.checks.map(({ name, ok }) => [name, ok])).to.deep.equal([['metadata', false]]);
      const input_schema = { type: 'object', properties: {}, required: ['csv'] };
      const bytes = encodeMetadata(metadataOf({ input_schema }));
      const { metadata_hash } = await createClient({ baseUrl: world.url }).postMetadata(bytes, session.token);
      const unfit = await session.call('listings.test', { metadata_hash, signing_key });
      expect(unfit.checks[0]).to.include({ name: 'metadata', ok: false, detail: 'parameters.csv is missing' });
    });
  });

  describe('itself', () => {
    it('answers faults without a word of them', async () => {
      const { keyUse } = world.deps;
      world.deps.keyUse = { ...keyUse, flush: () => Promise.reject(new TypeError('secret of the house')) };
      const session = await signIn(Keypair.generate());
      const error = await refusal(session.call('keys.list'));
      world.deps.keyUse = keyUse;
      expect(error).to.include({ status: 500, code: 'internal_error' });
      expect(error.message).to.not.include('secret');
      expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
    });

    it('rejects: unknown procedures, wrong methods, bad JSON, large bodies and batches', async () => {
      const post = (path: string, body: string) => world.post(path, body);
      const answers: [Awaited<ReturnType<typeof post>>, number, string][] = [
        [await world.get('/trpc/no.such'), 404, 'not_found'],
        [await world.get('/trpc/keys.register'), 405, 'method_not_allowed'],
        [await post('/trpc/keys.register', '{'), 400, 'invalid_request'],
        [await post('/trpc/keys.register', `"${'x'.repeat(32 * 1024)}"`), 413, 'payload_too_large'],
        [await post('/trpc/no.such', `{${'x'.repeat(40 * 1024)}`), 404, 'not_found'],
        [await post('/trpc/constructor', '{'), 404, 'not_found'],
        [await post('/trpc/config.get', `{${'x'.repeat(40 * 1024)}`), 405, 'method_not_allowed'],
        [
          await world.call('/trpc/keys.register', {
            method: 'PUT',
            body: '{',
            headers: { 'content-type': 'application/json' },
          }),
          405,
          'method_not_allowed',
        ],
        [await world.get('/trpc/config.get,config.get?batch=1'), 400, 'invalid_request'],
      ];
      for (const [answer, status, code] of answers) {
        const { error } = JSON.parse(answer.text);
        expect([answer.status, error.data.code]).to.deep.equal([status, code]);
        expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
        expect(answer.text).to.not.match(/\.ts:\d/);
      }
    });
  });
});
