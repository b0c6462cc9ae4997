/** API keys over /trpc: registered, listed and revoked by their wallets. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createClient } from '../../../app/sdk/client/client.ts';
import { hashApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress } from '../../harness/edge/rows.ts';
import { refusal, refusedAs, sessionsOf } from './sessions.ts';

describe('/trpc, keys', () => {
  const world = useWorld();
  afterEach(() => {
    world.state.chainAnswers = true;
    world.state.nowMs = EPOCH * 1000;
    world.state.revoked.length = 0;
  });

  const { anonymous, signIn, grantedKey } = sessionsOf(() => world);
  const register = (key: { wallet: string; keyHash: string }, name = 'laptop') =>
    anonymous().call('keys.register', { wallet: key.wallet, key_hash: key.keyHash, name });

  /** A registered key with a session of its wallet. */
  async function registeredKey(wallet = Keypair.generate()) {
    const key = grantedKey(wallet.publicKey.toBase58());
    await register(key);
    return { key, session: await signIn(wallet) };
  }

  it('work after registration, and a second registration changes nothing', async () => {
    const key = grantedKey();
    const rest = createClient({ baseUrl: world.url, apiKey: key.apiKey });
    expect(await refusedAs(rest.request('listExecutions'))).to.equal('401 unauthorized');
    expect(await register(key, 'laptop')).to.deep.equal({ key_id: key.keyId, name: 'laptop' });
    expect(await register(key, 'another name')).to.deep.equal({ key_id: key.keyId, name: 'laptop' });
    expect((await rest.request('listExecutions')).total).to.equal(0);
  });

  it('rejects: keys without an active grant of the same wallet, and leaves the rows unchanged', async () => {
    const key = grantedKey();
    const address = `${key.wallet}:${key.keyId}`;
    const refused = '400 invalid_request';
    expect(await refusedAs(register({ ...key, wallet: newAddress() }))).to.equal(refused);
    expect(await refusedAs(register({ ...key, keyHash: hashApiKey('another') }))).to.equal(refused);
    for (const dead of [{ revoked: true }, { expiresAt: BigInt(EPOCH) }]) {
      world.state.grants.set(address, grantAccount({ ...key }, dead));
      expect(await refusedAs(register(key))).to.equal(refused);
    }
    world.state.chainAnswers = false;
    expect(await refusedAs(register(key))).to.equal('503 service_unavailable');
    const rows = await world.ledger.selectFrom('api_keys').selectAll().where('wallet', '=', key.wallet).execute();
    expect(rows).to.deep.equal([]);
  });

  it('rejects: malformed wallets, hashes and names, and names the field', async () => {
    const key = grantedKey();
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
    const { key, session } = await registeredKey();
    const rest = createClient({ baseUrl: world.url, apiKey: key.apiKey });
    await rest.request('listExecutions');
    expect(await session.call('keys.revoke', { key_id: key.keyId })).to.deep.equal({
      key_id: key.keyId,
      on_chain: { signature: 'revokeSignature', error: null },
    });
    expect(world.state.revoked).to.deep.equal([`${key.wallet}:${key.keyId}`]);
    expect(await refusedAs(rest.request('listExecutions'))).to.equal('401 unauthorized');
    expect((await session.call('keys.list')).keys[0]).to.include({ revoked: true });
    // The grant can remain active on-chain for a moment; that must not restore the key.
    expect(await refusedAs(register(key))).to.equal('400 invalid_request');
  });

  it('end here when the chain does not answer, and the answer says so', async () => {
    const { key, session } = await registeredKey();
    world.state.chainAnswers = false;
    const { on_chain } = await session.call('keys.revoke', { key_id: key.keyId });
    expect(on_chain.signature).to.equal(null);
    expect(on_chain.error).to.include('Revoking the grant on-chain failed');
    expect((await world.get('/v1/executions', key.apiKey)).status).to.equal(401);
  });

  it('end here when the daily budget for revocations on-chain is used up, per wallet or in total', async () => {
    const usual = world.deps.config;
    const fee = 5_000n;
    await world.ledger.deleteFrom('revocations').execute();
    world.deps.config = { ...usual, revocations: { wallet: 2n * fee, total: 3n * fee } };
    try {
      const revokeOne = async (wallet: Keypair) => {
        const { key, session } = await registeredKey(wallet);
        const { on_chain } = await session.call('keys.revoke', { key_id: key.keyId });
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
      const sentAt = (sent_ms: bigint) => world.ledger.updateTable('revocations').set({ sent_ms }).execute();
      await sentAt(dayBefore + 1n);
      expect((await revokeOne(one)).error).to.equal(refused.error);
      await sentAt(dayBefore);
      expect(await revokeOne(one)).to.deep.equal(paid);
    } finally {
      world.deps.config = usual;
    }
  });

  it('rejects: revoking a missing key and a key of another wallet', async () => {
    const { key } = await registeredKey();
    const stranger = await signIn(Keypair.generate());
    expect(await refusedAs(stranger.call('keys.revoke', { key_id: key.keyId }))).to.equal('404 not_found');
    expect((await world.get('/v1/executions', key.apiKey)).status).to.equal(200);
  });
});
