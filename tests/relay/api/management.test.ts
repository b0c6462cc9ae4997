/** /trpc through the SDK's client: sessions of wallets, keys, the deployment's settings and the Test Execution tool. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { createClient } from '../../../app/sdk/client/client.ts';
import { createManagement } from '../../../app/sdk/client/management.ts';
import { type ConfigChange, findTreasury, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOfHash } from '../../../app/sdk/receipt/apiKey.ts';
import type { FoundChange } from '../../../app/sdk/wallet/pending.ts';
import { STANDARD_TAGS } from '../../../app/sdk/wire/metadata.ts';
import { CONFIG, grantAccount } from '../../harness/edge/accounts.ts';
import { EXPLORER_QUERY, GENESIS, useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress } from '../../harness/edge/rows.ts';
import { refusal, sessionsOf } from './sessions.ts';

describe('/trpc', () => {
  const world = useWorld();
  afterEach(() => {
    world.state.chainAnswers = true;
    world.state.nowMs = EPOCH * 1000;
    world.state.revoked.length = 0;
  });

  const { anonymous, signIn } = sessionsOf(() => world);

  /** A key whose grant is on-chain and in the index, but not yet registered. */
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
    it("returns the chain's settings that a client needs", async () => {
      expect(await anonymous().call('config.get')).to.deep.equal({
        environment: 'test',
        program_id: PROGRAM_ID.toBase58(),
        usdc_mint: CONFIG.usdcMint.toBase58(),
        genesis_hash: GENESIS,
        admin: CONFIG.admin.toBase58(),
        relay_authorities: [CONFIG.relayAuthorities[0]!.toBase58()],
        treasury: findTreasury().toBase58(),
        rpc_url: 'http://127.0.0.1:8899',
        explorer_query: EXPLORER_QUERY,
        egress_ips: ['203.0.113.7'],
        fee_bps: 100,
        min_price_usdc: 0.01,
        max_timeout_seconds: 3600,
        dispute_window_seconds: 259_200,
        refund_grace_seconds: 600,
        record_seconds: 3_600,
        longest_span_seconds: 263_400,
        dispute_bond_lamports: 10_000_000,
        collateral_tiers: [
          { max_price_usdc: 1, deposit_usdc: 5 },
          { max_price_usdc: 10, deposit_usdc: 25 },
        ],
        standard_tags: STANDARD_TAGS,
        x402_service_fee_usdc: null,
        is_sponsored: false,
      });
    });
  });

  describe('config.changes', () => {
    const nothing = { feeBps: null, minPrice: null, disputeBondLamports: null, liftGuardianPause: false, tiers: null };
    const others = {
      disputeWindowSeconds: null,
      refundGraceSeconds: null,
      maxTimeoutSeconds: null,
      recordSeconds: null,
    };
    const same = { ...nothing, ...others, exposureMultiple: null, adminDelaySeconds: null };
    const [address, key] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    /** A change proposed at EPOCH. */
    const waiting = (changeId: bigint, dueIn: number, details: Partial<ConfigChange>): FoundChange => ({
      address,
      fields: {
        version: 1,
        bump: 255,
        changeId,
        rentSponsor: CONFIG.admin,
        proposedAt: BigInt(EPOCH),
        dueAt: BigInt(EPOCH + dueIn),
        details: { settings: same, addedRelayAuthorities: [], guardian: null, admin: null, ...details },
      },
    });
    afterEach(() => {
      world.state.changes = [];
    });

    it('shows everybody the changed settings, their due time, and the wallets that can stop the change', async () => {
      const tiers = [{ maxPrice: 20_000_000n, deposit: 100_000n }];
      const settings = { ...same, feeBps: 50, minPrice: 20_000n, disputeBondLamports: 1n, exposureMultiple: 0, tiers };
      world.state.changes = [
        waiting(4n, 86_403, { admin: key }),
        waiting(3n, 86_402, { guardian: PublicKey.default }),
        waiting(2n, 86_401, { addedRelayAuthorities: [key], settings: { ...same, liftGuardianPause: true } }),
        waiting(1n, 3_600, { settings }),
      ];
      world.state.nowMs = (EPOCH + 3_600) * 1_000;
      const admin = CONFIG.admin.toBase58();
      const times = { change: address.toBase58(), proposed_at: new Date(EPOCH * 1_000).toISOString() };
      const at = (seconds: number) => new Date((EPOCH + seconds) * 1_000).toISOString();
      const later = (dueIn: number) => ({
        status: 'waiting',
        applicable_at: at(dueIn),
        applicable_in_seconds: dueIn - 3_600,
        expires_at: at(dueIn + 604_800),
      });
      expect(await anonymous().call('config.changes')).to.deep.equal({
        guardian: admin,
        admin_delay_seconds: 0,
        changes: [
          {
            ...times,
            change_id: '1',
            subject: 'settings',
            status: 'applicable',
            applicable_at: at(3_600),
            applicable_in_seconds: 0,
            expires_at: at(3_600 + 604_800),
            settings: [
              { setting: 'fee', unit: 'basis_points', before: 100, after: 50 },
              { setting: 'min_price', unit: 'usdc', before: 0.01, after: 0.02 },
              { setting: 'dispute_bond', unit: 'lamports', before: 10_000_000, after: 1 },
              { setting: 'exposure_multiple', unit: 'times_collateral', before: 0, after: 0 },
              {
                setting: 'collateral_tiers',
                unit: 'usdc',
                before: ['1:5', '10:25'],
                after: ['20:0.1'],
              },
            ],
          },
          {
            ...times,
            change_id: '2',
            subject: 'settings',
            ...later(86_401),
            settings: [
              { setting: 'guardian_pause', unit: null, before: false, after: false },
              { setting: 'relay_authorities', unit: 'address', before: [admin], after: [admin, key.toBase58()] },
            ],
          },
          {
            ...times,
            change_id: '3',
            subject: 'guardian',
            ...later(86_402),
            settings: [{ setting: 'guardian', unit: 'address', before: admin, after: null }],
          },
          {
            ...times,
            change_id: '4',
            subject: 'admin',
            ...later(86_403),
            settings: [{ setting: 'admin', unit: 'address', before: admin, after: key.toBase58() }],
          },
        ],
      });
    });

    it('says which changes can never be applied any more', async () => {
      const cancelled = waiting(2n, 1, {});
      cancelled.fields.proposedAt = CONFIG.changesValidFrom;
      world.state.changes = [waiting(1n, 0, {}), cancelled];
      world.state.nowMs = (EPOCH + 604_800) * 1_000;
      const { changes } = await anonymous().call('config.changes');
      expect(changes.map(({ status }) => status)).to.deep.equal(['expired', 'cancelled']);
    });

    it('reads the node once in 4 s, and returns 503 while the node does not answer', async () => {
      world.state.nowMs += 10_000;
      expect((await anonymous().call('config.changes')).changes).to.deep.equal([]);
      world.state.changes = [waiting(1n, 1, {})];
      world.state.nowMs += 3_999;
      expect((await anonymous().call('config.changes')).changes).to.deep.equal([]);
      world.state.nowMs += 1;
      expect((await anonymous().call('config.changes')).changes).to.have.length(1);
      world.state.chainAnswers = false;
      world.state.nowMs += 4_000;
      expect(await refusal(anonymous().call('config.changes'))).to.include({ code: 'service_unavailable' });
    });
  });

  describe('keys', () => {
    it('work after registration, and a second registration changes nothing', async () => {
      const key = await grantedKey();
      const rest = createClient({ baseUrl: world.url, apiKey: key.apiKey });
      expect(await refusal(rest.request('listExecutions'))).to.include({ status: 401, code: 'unauthorized' });
      expect(await register(key, 'laptop')).to.deep.equal({ key_id: key.keyId, name: 'laptop' });
      expect(await register(key, 'another name')).to.deep.equal({ key_id: key.keyId, name: 'laptop' });
      expect((await rest.request('listExecutions')).total).to.equal(0);
    });

    it('rejects: keys without an active grant of the same wallet, and leaves the rows unchanged', async () => {
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

    it('rejects: malformed wallets, hashes and names, and names the field', async () => {
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

    it('are listed for their wallet only, with their spend from the chain', async () => {
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
            allowed_agents: null,
            revoked: false,
          },
        ],
      });
    });

    it('end with their revocation, here at once and also on-chain', async () => {
      const wallet = Keypair.generate();
      const key = await grantedKey(wallet.publicKey.toBase58());
      await register(key);
      const rest = createClient({ baseUrl: world.url, apiKey: key.apiKey });
      await rest.request('listExecutions');
      const session = await signIn(wallet);
      expect(await session.call('keys.revoke', { key_id: key.keyId })).to.deep.equal({
        key_id: key.keyId,
        on_chain: { signature: 'revokeSignature', error: null },
      });
      expect(world.state.revoked).to.deep.equal([`${key.wallet}:${key.keyId}`]);
      expect(await refusal(rest.request('listExecutions'))).to.include({ status: 401, code: 'unauthorized' });
      expect((await session.call('keys.list')).keys[0]).to.include({ revoked: true });
      // The grant can remain active on-chain for a moment; that must not restore the key.
      expect(await refusal(register(key))).to.include({ status: 400 });
    });

    it('end here when the chain does not answer, and the answer says so', async () => {
      const wallet = Keypair.generate();
      const key = await grantedKey(wallet.publicKey.toBase58());
      await register(key);
      const session = await signIn(wallet);
      world.state.chainAnswers = false;
      const { on_chain } = await session.call('keys.revoke', { key_id: key.keyId });
      expect(on_chain.signature).to.equal(null);
      expect(on_chain.error).to.include('Revoking the grant on-chain failed');
      const { status } = await world.get('/v1/executions', key.apiKey);
      expect(status).to.equal(401);
    });

    it('end here when the daily budget for revocations on-chain is used up, per wallet or in total', async () => {
      const usual = world.deps.config;
      const fee = 5_000n;
      await world.ledger.deleteFrom('revocations').execute();
      world.deps.config = { ...usual, revocations: { wallet: 2n * fee, total: 3n * fee } };
      try {
        const revokeOne = async (wallet: Keypair) => {
          const key = await grantedKey(wallet.publicKey.toBase58());
          await register(key);
          const { on_chain } = await (await signIn(wallet)).call('keys.revoke', { key_id: key.keyId });
          expect((await world.get('/v1/executions', key.apiKey)).status).to.equal(401);
          return on_chain;
        };
        const paid = { signature: 'revokeSignature', error: null };
        const [one, other] = [Keypair.generate(), Keypair.generate()];
        for (let times = 0; times < 2; times += 1) expect(await revokeOne(one)).to.deep.equal(paid);
        const sent = world.state.revoked.length;
        const refused = await revokeOne(one);
        expect(refused.signature).to.equal(null);
        expect(refused.error).to.match(/daily budget for revocations is used up. The wallet can revoke it itself/);
        expect(await revokeOne(other)).to.deep.equal(paid);
        expect((await revokeOne(Keypair.generate())).error).to.equal(refused.error);
        expect(world.state.revoked).to.have.length(sent + 1);
        const dayBefore = BigInt(world.state.nowMs - 24 * 3_600_000);
        await world.ledger
          .updateTable('revocations')
          .set({ sent_ms: dayBefore + 1n })
          .execute();
        expect((await revokeOne(one)).error).to.equal(refused.error);
        await world.ledger.updateTable('revocations').set({ sent_ms: dayBefore }).execute();
        expect(await revokeOne(one)).to.deep.equal(paid);
      } finally {
        world.deps.config = usual;
      }
    });

    it('rejects: revoking a missing key and a key of another wallet', async () => {
      const key = await grantedKey();
      await register(key);
      const session = await signIn(Keypair.generate());
      expect(await refusal(session.call('keys.revoke', { key_id: key.keyId }))).to.include({
        status: 404,
        code: 'not_found',
      });
      expect((await world.get('/v1/executions', key.apiKey)).status).to.equal(200);
    });

    it('survive, when used, a flood of hashes that strangers register for the same grant', async () => {
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

  describe('itself', () => {
    it('answers internal faults without details', async () => {
      const { keyUse } = world.deps;
      world.deps.keyUse = { ...keyUse, flush: () => Promise.reject(new TypeError('secret of the house')) };
      const session = await signIn(Keypair.generate());
      const error = await refusal(session.call('keys.list'));
      world.deps.keyUse = keyUse;
      expect(error).to.include({ status: 500, code: 'internal_error' });
      expect(error.message).to.not.include('secret');
      expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
    });

    it('is no answer of another server, and keeps what a newer service adds', async () => {
      const told = (status: number, text: string) =>
        createManagement(createClient({ baseUrl: world.url, fetch: async () => new Response(text, { status }) }));
      for (const [status, text] of [
        [502, '<h1>Bad gateway</h1>'],
        [200, ''],
        [200, '{"agents":[]}'],
        [200, '{"result":{"data":null}}'],
        [200, '{"result":{"data":{"environment":"test"}}}'],
      ] as const) {
        const refused = await refusal(told(status, text).call('config.get'));
        expect(refused).to.include({ name: 'UnexpectedAnswerError', status, code: 'unexpected_answer' });
      }
      const config = await anonymous().call('config.get');
      const newer = { ...config, extra: 1 };
      const text = JSON.stringify({ result: { data: newer } });
      expect(await told(200, text).call('config.get')).to.deep.equal(newer);
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
