/** Restrictions of valid keys: scopes, an expiry, allowed addresses, and who can set them. */
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { clientAddress, isWithin } from '../../../app/relay/access/clientAddress.ts';
import type { MarketplaceError } from '../../../app/sdk/client/error.ts';
import { createApiKey, hashApiKey, keyIdOfHash } from '../../../app/sdk/receipt/apiKey.ts';
import { clientOf } from '../../../app/sdk/wallet/service.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, type TestKey } from '../../harness/edge/rows.ts';

describe('restrictions of keys', () => {
  let wallet: Keypair;
  const world = useWorld();
  before(async () => {
    world.deps.config = { ...world.deps.config, trustProxy: 1 };
    wallet = Keypair.generate();
  });
  afterEach(() => {
    world.state.nowMs = EPOCH * 1000;
  });

  const address = () => wallet.publicKey.toBase58();
  const anonymous = () => clientOf({ baseUrl: world.url });
  async function session(of = wallet) {
    const { message } = await anonymous().call('auth.challenge', { wallet: of.publicKey.toBase58() });
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), of.secretKey));
    const { token } = await anonymous().call('auth.verify', { wallet: of.publicKey.toBase58(), message, signature });
    return clientOf({ baseUrl: world.url }, token);
  }

  /** A key whose grant is on-chain, but not yet registered. */
  function grantedKey(): TestKey {
    const apiKey = createApiKey('test');
    const keyHash = hashApiKey(apiKey);
    const key = { wallet: address(), apiKey, keyHash, keyId: keyIdOfHash(keyHash) };
    world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key));
    return key;
  }

  const read = (key: TestKey, from?: string) =>
    world.call('/v1/executions', { key: key.apiKey, ...(from && { headers: { 'x-forwarded-for': from } }) });
  const execute = (key: TestKey) =>
    world.post(`/v1/agents/${newAddress()}/execute`, { task: 'x' }, { key: key.apiKey });
  const codeOf = async (call: ReturnType<World['call']>) => {
    const { status, json } = await call;
    return json.error ? `${status} ${json.error.code}` : `${status}`;
  };
  const refusal = (call: Promise<unknown>): Promise<MarketplaceError> =>
    call.then(
      () => expect.fail('expected a refusal'),
      (error: MarketplaceError) => error,
    );

  it("end a key at its owner's date, even if its grant lives longer", async () => {
    const key = grantedKey();
    const expires_at = new Date((EPOCH + 60) * 1000).toISOString();
    const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'short', expires_at };
    await (await session()).call('keys.register', input);
    world.state.nowMs = (EPOCH + 60) * 1000 - 1;
    expect(await codeOf(read(key))).to.equal('200');
    world.state.nowMs += 1;
    expect(await codeOf(read(key))).to.equal('401 unauthorized');
  });

  it('limit a key to its addresses, as the trusted proxy reports them', async () => {
    const key = grantedKey();
    const allowed_ips = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'];
    const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'office', allowed_ips };
    await (await session()).call('keys.register', input);
    for (const from of ['203.0.113.9', '10.0.0.1, 203.0.113.255', '2001:db8:1::5', '::ffff:198.51.100.7']) {
      expect(await codeOf(read(key, from)), from).to.equal('200');
    }
    // An address that the client writes into the header precedes the one that our proxy appends.
    for (const from of ['203.0.114.1', '203.0.113.9, 192.0.2.1', '2001:db9::1', '198.51.100.8', undefined, 'garbage']) {
      expect(await codeOf(read(key, from)), from).to.equal('403 address_not_allowed');
    }
    expect((await read(key, '192.0.2.1')).json.error.details).to.deep.equal({ address: '192.0.2.1' });
  });

  it('are shown with the key, apply from the next request, and can be removed', async () => {
    const key = grantedKey();
    const client = await session();
    await client.call('keys.register', { wallet: key.wallet, key_hash: key.keyHash, name: 'changing' });
    const end = new Date((EPOCH + 5) * 1000).toISOString();
    const change = { key_id: key.keyId, scopes: ['read' as const], expires_at: end, allowed_ips: ['::1'] };
    expect(await client.call('keys.update', change)).to.include({ name: 'changing', expires_at: end });
    expect(await codeOf(read(key))).to.equal('403 address_not_allowed');
    await client.call('keys.update', { key_id: key.keyId, allowed_ips: ['127.0.0.0/8'] });
    expect(await codeOf(read(key))).to.equal('200');
    expect(await codeOf(execute(key))).to.equal('403 insufficient_scope');
    const freed = {
      key_id: key.keyId,
      scopes: ['read' as const, 'execute' as const],
      expires_at: null,
      allowed_ips: null,
    };
    expect(await client.call('keys.update', freed)).to.deep.include({
      scopes: ['execute', 'read'],
      expires_at: null,
      allowed_ips: null,
    });
    world.state.nowMs = (EPOCH + 6) * 1000;
    expect(await codeOf(execute(key))).to.equal('404 agent_not_found');
  });

  it('rejects: restrictions from anyone but the wallet, at registration and later', async () => {
    const key = grantedKey();
    const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'x', scopes: ['read' as const] };
    const stranger = await session(Keypair.generate());
    for (const client of [anonymous(), stranger]) {
      expect(await refusal(client.call('keys.register', input))).to.include({ status: 401, code: 'unauthorized' });
    }
    await (await session()).call('keys.register', input);
    expect(await refusal(stranger.call('keys.update', { key_id: key.keyId, scopes: ['execute'] }))).to.include({
      status: 404,
      code: 'not_found',
    });
    expect(await codeOf(execute(key))).to.equal('403 insufficient_scope');
  });

  it('remain when a key holder registers again or floods the service with hashes', async () => {
    const key = grantedKey();
    const input = { wallet: key.wallet, key_hash: key.keyHash, name: 'x', scopes: ['read' as const] };
    await (await session()).call('keys.register', input);
    const open = { wallet: key.wallet, key_hash: key.keyHash, name: 'free' };
    for (let count = 0; count < 20; count += 1) {
      const key_hash = key.keyId + Keypair.generate().publicKey.toBuffer().toString('hex').slice(0, 32);
      await anonymous().call('keys.register', { ...open, key_hash });
    }
    await anonymous().call('keys.register', open);
    expect(await codeOf(execute(key))).to.equal('403 insufficient_scope');
    expect(await codeOf(read(key))).to.equal('200');
  });

  const WRONG: Record<string, unknown>[] = [
    { scopes: [] },
    { scopes: ['admin'] },
    { expires_at: 'tomorrow' },
    { allowed_ips: ['1.2.3.4/33'] },
    { allowed_ips: ['1.2.3.4,5.6.7.8'] },
    { allowed_ips: Array.from({ length: 33 }, () => '1.2.3.4') },
  ];
  for (const wrong of WRONG) {
    it(`rejects: ${JSON.stringify(wrong).slice(0, 60)}`, async () => {
      const change = { key_id: '0'.repeat(32), ...wrong } as never;
      expect(await refusal((await session()).call('keys.update', change))).to.include({ status: 400 });
    });
  }
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
