/**
 * API keys over /trpc: registered, listed, restricted and revoked by their wallets. GET /v1/key: the amount that each limit
 * leaves, and whether the gas balance suffices. And the address of a client.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { clientAddress, isWithin } from '../../../app/relay/access/clientAddress.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { hashApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, type TestKey } from '../../harness/edge/rows.ts';
import { refusal, refusedAs, sessionsOf } from './sessions.ts';

describe('/trpc, keys', () => {
  const world = useWorld();
  before(() => {
    world.deps.config = { ...world.deps.config, trustProxy: 1 };
  });
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

  describe('GET /v1/key', () => {
    async function ask(changes: Parameters<typeof grantAccount>[1], money: Partial<World['state']['money']> = {}) {
      const key = await world.addKey();
      world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key, changes));
      const before = world.state.money;
      world.state.money = { ...before, ...money };
      const answer = await world.get('/v1/key', key.apiKey);
      world.state.money = before;
      return answer;
    }

    it('names the smallest of all limits as the most that a call can cost', async () => {
      const payable = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).json.payable_usdc;
      expect(await payable({})).to.equal(10);
      expect(await payable({ perExecutionMax: 1n })).to.equal(0.000001);
      expect(await payable({ periodSpent: 9_999_999n })).to.equal(0.000001);
      expect(await payable({ totalSpent: 99_000_000n })).to.equal(1);
      expect(await payable({}, { balance: 3_000_000n })).to.equal(3);
      expect(await payable({}, { allowance: 0n })).to.equal(0);
      // The limit was lowered below the amount already spent.
      expect(await payable({ totalMax: 1n, totalSpent: 2n })).to.equal(0);
    });

    it('says if the allowance ends before the total limit, to the base unit', async () => {
      const covers = async (allowance: bigint) =>
        (await ask({ totalMax: 100_000_000n, totalSpent: 60_000_000n }, { allowance })).json.allowance_covers_total;
      expect(await covers(40_000_000n)).to.equal(true);
      expect(await covers(39_999_999n)).to.equal(false);
    });

    it('counts nothing as spent once a new period has begun, and names the next one', async () => {
      const ended = { periodStart: BigInt(EPOCH - 200), periodSeconds: 150, periodSpent: 9_000_000n };
      const { json } = await ask(ended);
      expect(json).to.include({ period_spent_usdc: 0, period_remaining_usdc: 10 });
      expect(json.renews_at).to.equal(new Date((EPOCH + 100) * 1000).toISOString());
    });

    it('reports whether the gas balance pays for a call, down to the lamport', async () => {
      const gas = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).json.gas;
      const whole = 11_950n + 1_488_440n;
      const least = 890_880n + whole;
      expect(await gas({}, { gasBalance: least })).to.include({ next_call_lamports: 11_950, pays_next_call: true });
      expect(await gas({}, { gasBalance: least - 1n })).to.include({ pays_next_call: false });
      expect(await gas({}, { gasBalance: whole })).to.include({ pays_next_call: true });
      expect(await gas({ maxGasLamports: 11_950 }, { gasBalance: least })).to.include({ pays_next_call: true });
      expect(await gas({ maxGasLamports: 11_949 }, { gasBalance: least })).to.include({ pays_next_call: false });
    });

    it('reports whether the service pays the gas of a call where the gas balance does not', async () => {
      expect((await ask({}, { gasBalance: 0n })).json.gas).to.include({ pays_next_call: false, is_sponsored: false });
      const { config } = world.deps;
      world.deps.config = { ...config, sponsorsAll: true };
      const { gas } = (await ask({}, { gasBalance: 0n })).json;
      world.deps.config = config;
      expect(gas).to.include({ pays_next_call: false, is_sponsored: true });
    });

    it('answers a key that may only execute, and refuses one whose grant ended on-chain before the index knew', async () => {
      const key = await world.addKey();
      await world.ledger
        .updateTable('api_keys')
        .set({ scopes: 'execute' })
        .where('key_hash', '=', key.keyHash)
        .execute();
      expect((await world.get('/v1/key', key.apiKey)).json).to.deep.include({ scopes: ['execute'], name: 'laptop' });
      expect((await ask({ revoked: true })).outcome).to.equal('401 unauthorized');
    });
  });

  describe('restrictions', () => {
    const wallet = Keypair.generate();
    const ownKey = () => grantedKey(wallet.publicKey.toBase58());
    const read = async ({ apiKey }: TestKey, from?: string) => {
      const headers = { ...(from && { 'x-forwarded-for': from }) };
      return (await world.call('/v1/executions', { key: apiKey, headers })).outcome;
    };
    const execute = async ({ apiKey }: TestKey) =>
      (await world.post(`/v1/agents/${newAddress()}/execute`, { task: 'x' }, { key: apiKey })).outcome;

    it("end a key at its owner's date, even if its grant lives longer", async () => {
      const key = ownKey();
      const expires_at = new Date((EPOCH + 60) * 1000).toISOString();
      const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'short', expires_at };
      await (await signIn(wallet)).call('keys.register', input);
      world.state.nowMs = (EPOCH + 60) * 1000 - 1;
      expect(await read(key)).to.equal('200');
      world.state.nowMs += 1;
      expect(await read(key)).to.equal('401 unauthorized');
    });

    it('limit a key to its addresses, as the trusted proxy reports them', async () => {
      const key = ownKey();
      const allowed_ips = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'];
      const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'office', allowed_ips };
      await (await signIn(wallet)).call('keys.register', input);
      for (const from of ['203.0.113.9', '2001:db8:1::5', '::ffff:198.51.100.7'])
        expect(await read(key, from), from).to.equal('200');
      // An address that the client writes into the header precedes the one that our proxy appends.
      for (const from of ['203.0.113.9, 192.0.2.1', undefined])
        expect(await read(key, from), from).to.equal('403 address_not_allowed');
      const headers = { 'x-forwarded-for': '192.0.2.1' };
      const refused = await world.call('/v1/executions', { key: key.apiKey, headers });
      expect(refused.json.error.details).to.deep.equal({ address: '192.0.2.1' });
    });

    it('rejects: restrictions from anyone but the wallet, at registration and later', async () => {
      const key = ownKey();
      const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'x', scopes: ['read' as const] };
      const stranger = await signIn(Keypair.generate());
      for (const client of [anonymous(), stranger]) {
        expect(await refusedAs(client.call('keys.register', input))).to.equal('401 unauthorized');
      }
      await (await signIn(wallet)).call('keys.register', input);
      const widened = stranger.call('keys.update', { key_id: key.keyId, scopes: ['execute'] });
      expect(await refusedAs(widened)).to.equal('404 not_found');
      expect(await execute(key)).to.equal('403 insufficient_scope');
    });

    it('remain when the holder registers the key again, and a key in use remains, among a flood of hashes', async () => {
      const register = (key: TestKey, key_hash = key.keyHash) =>
        anonymous().call('keys.register', { wallet: key.wallet, key_hash, name: 'free' });
      const flood = async (key: TestKey) => {
        for (let n = 0; n < 20; n += 1) {
          world.state.nowMs += 1;
          await register(key, key.keyId + n.toString(16).padStart(32, '0'));
        }
      };
      const [restricted, used] = [ownKey(), ownKey()];
      const input = { wallet: restricted.wallet, key_hash: restricted.keyHash, name: 'x', scopes: ['read' as const] };
      await (await signIn(wallet)).call('keys.register', input);
      await flood(restricted);
      await register(restricted);
      expect([await execute(restricted), await read(restricted)]).to.deep.equal(['403 insufficient_scope', '200']);
      await register(used);
      expect(await read(used)).to.equal('200');
      await flood(used);
      const rows = world.ledger.selectFrom('api_keys').select('key_hash').where('key_id', '=', used.keyId);
      const kept = (await rows.execute()).map(({ key_hash }) => key_hash);
      expect(kept).to.include(used.keyHash);
      expect(kept).to.have.length(9);
    });

    it('rejects: values that do not fit, and names the field', async () => {
      const key = ownKey();
      const good = { wallet: key.wallet, key_hash: key.keyHash, name: 'x' };
      const session = await signIn(wallet);
      for (const wrong of [
        { wallet: '1'.repeat(40) },
        { key_hash: key.keyHash.toUpperCase() },
        { name: '' },
        { name: 'n'.repeat(65) },
        { name: 'a\nb' },
        { scopes: [] },
        { scopes: ['admin'] },
        { expires_at: 'tomorrow' },
        { expires_at: '0000-01-01T00:00:00+23:59' },
        { expires_at: '9999-12-31T23:59:59-23:59' },
        { allowed_ips: ['1.2.3.4/33'] },
        { allowed_ips: ['1.2.3.4,5.6.7.8'] },
        { allowed_ips: Array.from({ length: 33 }, () => '1.2.3.4') },
      ]) {
        const error = await refusal(session.call('keys.register', { ...good, ...wrong } as typeof good));
        expect(error, JSON.stringify(wrong)).to.include({ status: 400, code: 'invalid_request' });
        expect(error.message).to.include(`"${Object.keys(wrong)[0]}`);
      }
    });
  });
});

describe('relay/clientAddress', () => {
  const from = (headers: Record<string, string | undefined>, remoteAddress = '::ffff:192.0.2.1') =>
    ({ headers, socket: { remoteAddress } }) as never;
  const request = (list: string | undefined) => from({ 'x-forwarded-for': list });

  it('is that of the connection, or the one the outermost trusted proxy reports', () => {
    const cases: [forwarded: string | undefined, hops: number, address: string][] = [
      ['203.0.113.1', 0, '192.0.2.1'],
      ['203.0.113.1', 1, '203.0.113.1'],
      ['203.0.113.66, 203.0.113.1', 1, '203.0.113.1'],
      ['203.0.113.66, 203.0.113.1,10.0.0.1', 2, '203.0.113.1'],
      ['unknown', 1, '192.0.2.1'],
      [undefined, 1, '192.0.2.1'],
      ['2001:db8::1', 1, '2001:db8::1'],
      // With ports, brackets, quotes and zones, as some proxies write them.
      ['203.0.113.7:51234', 1, '203.0.113.7'],
      ['198.51.100.1:1, 203.0.113.7:51234, 10.0.0.1:80', 2, '203.0.113.7'],
      ['[2001:db8::1]:443', 1, '2001:db8::1'],
      ['"[2001:db8::1]:443"', 1, '2001:db8::1'],
      ['fe80::1%eth0', 1, 'fe80::1'],
      ['2001:DB8:0:0:0:0:0:1', 1, '2001:db8::1'],
      ['::ffff:203.0.113.7', 1, '203.0.113.7'],
      ['203.0.113.66, , 203.0.113.7,', 1, '203.0.113.7'],
      ['::ffff:203.0.113.7:51234', 1, '203.0.113.7'],
      ['203.0.113.7:x', 1, '192.0.2.1'],
      ['_hidden', 1, '192.0.2.1'],
    ];
    for (const [forwarded, hops, address] of cases) {
      expect(clientAddress(request(forwarded), hops), `${forwarded} behind ${hops}`).to.equal(address);
    }
  });

  it('is that of Forwarded if no proxy sends X-Forwarded-For', () => {
    const cases: [forwarded: string, hops: number, address: string][] = [
      ['for=203.0.113.7', 1, '203.0.113.7'],
      ['For="203.0.113.7:51234"; Proto=https', 1, '203.0.113.7'],
      ['proto=https;by=10.0.0.1;for="[2001:DB8::1]:443"', 1, '2001:db8::1'],
      ['for=198.51.100.1, for=203.0.113.7;host="a.example", for="10.0.0.1:80"', 2, '203.0.113.7'],
      ['for=198.51.100.1, proto=https', 1, '192.0.2.1'],
      ['for=_hidden', 1, '192.0.2.1'],
      ['by=203.0.113.7', 1, '192.0.2.1'],
      ['for=203.0.113.7', 2, '192.0.2.1'],
    ];
    for (const [forwarded, hops, address] of cases) {
      expect(clientAddress(from({ forwarded }), hops), `${forwarded} behind ${hops}`).to.equal(address);
    }
    const both = from({ 'x-forwarded-for': '203.0.113.7', forwarded: 'for=198.51.100.1' });
    expect(clientAddress(both, 1)).to.equal('203.0.113.7');
  });

  it('matches a block of its own address family only', () => {
    expect(isWithin('203.0.113.9', ['203.0.113.8/31'])).to.equal(true);
    expect(isWithin('203.0.113.10', ['203.0.113.8/31'])).to.equal(false);
    expect(isWithin('2001:db8::1', ['203.0.113.0/24', '2001:db8::/64'])).to.equal(true);
    expect(isWithin('::1', ['0.0.0.0/0'])).to.equal(false);
    expect(isWithin('', ['0.0.0.0/0', '::/0'])).to.equal(false);
  });
});
