/**
 * API keys on the real node, with two relays on one ledger. A revocation applies from the next request at
 * both. A key's figures come from the chain. A rotated key gives way to its successor.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { KEY_DIRECTORY_PATH } from '../../../app/sdk/creator/callSignature.ts';
import { type CallVerifier, createCallVerifier } from '../../../app/sdk/creator/callVerifier.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { decodeAccount, findGrant, findSpender } from '../../../app/sdk/program/program.ts';
import { keyIdOf } from '../../../app/sdk/receipt/apiKey.ts';
import { createKey, listKeys, restrictKey, revokeKey, rotateKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { revokeOnChain } from '../../../app/sdk/wallet/grants.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { parseUsdc } from '../../../app/sdk/wire/usdc.ts';
import type { KeyDirectory } from '../../../app/sdk/wire/wire.ts';
import { useServers } from '../../harness/edge/listen.ts';
import { until } from '../../harness/edge/until.ts';
import { failedAnswer, goodAnswer, PRICE, request } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { useSharedMarketplace } from './market.ts';

describe('API keys', () => {
  const market = useSharedMarketplace();
  let other: RunningRelay;
  before(async () => {
    other = await startRelayHere(market, { SPONSOR: 'all' });
  });
  after(() => other?.stop());
  beforeEach(() => market.setBehaviour(null));

  const wallet = () => market.callers[0]!.wallet;
  const idOf = (apiKey: string) => Buffer.from(keyIdOf(apiKey)).toString('hex');

  async function newKey(): Promise<string> {
    const made = await createKey(market.marketplace, {
      wallet: keypairSigner(wallet()),
      name: 'short-lived',
      limits: market.limits,
    });
    return made.api_key;
  }

  async function grantOf(apiKey: string) {
    const address = findGrant(wallet().publicKey, keyIdOf(apiKey));
    const account = await market.node.connection.getAccountInfo(address, 'confirmed');
    return decodeAccount('KeyGrant', account!.data);
  }

  const urls = () => [market.relay.url, other.url];
  const read = (url: string, apiKey: string) => request(url, '/v1/executions?limit=1', { apiKey });
  const execute = (url: string, apiKey: string, body: object = { task: 'x' }) => market.execute(url, body, { apiKey });

  it('are refused at the other relay from the first request after their revocation', async () => {
    const apiKey = await newKey();
    for (const url of urls()) expect((await read(url, apiKey)).status).to.equal(200);
    const before = await market.balances();
    await revokeKey(market.marketplace, { wallet: keypairSigner(wallet()), keyId: idOf(apiKey) });
    for (const url of [other.url, market.relay.url]) {
      expect((await execute(url, apiKey)).body.error.code).to.equal('unauthorized');
      expect((await read(url, apiKey)).body.error.code).to.equal('unauthorized');
    }
    expect(await market.balances()).to.deep.equal(before);
  });

  it('spend nothing after an on-chain revocation, and read until the index has seen it', async () => {
    const apiKey = await newKey();
    for (const url of urls()) expect((await read(url, apiKey)).status).to.equal(200);
    const before = await market.balances();
    await revokeOnChain(market.marketplace, { wallet: keypairSigner(wallet()), keyId: idOf(apiKey) });
    for (const url of urls()) {
      const { status, body } = await execute(url, apiKey);
      expect([status, body.error.code]).to.deep.equal([401, 'unauthorized']);
    }
    for (const url of urls())
      await until('the index has seen it', async () => (await read(url, apiKey)).status === 401);
    expect(await market.balances()).to.deep.equal(before);
  });

  it('are restricted at the other relay from the first request after the change', async () => {
    const apiKey = await newKey();
    const restrict = (restrictions: Parameters<typeof restrictKey>[1]['restrictions']) =>
      restrictKey(market.marketplace, { wallet: keypairSigner(wallet()), keyId: idOf(apiKey), restrictions });
    await restrict({ scopes: ['read'] });
    expect((await execute(other.url, apiKey)).body.error.code).to.equal('insufficient_scope');
    expect((await read(other.url, apiKey)).status).to.equal(200);
    await restrict({ allowed_ips: ['203.0.113.0/24'] });
    const refused = await read(other.url, apiKey);
    expect(refused.body.error.code).to.equal('address_not_allowed');
    expect(refused.body.error.details).to.deep.equal({ address: '127.0.0.1' });
    await restrict({ allowed_ips: null, scopes: ['execute', 'read'], allowed_agents: [wallet().publicKey.toBase58()] });
    const others = await execute(other.url, apiKey);
    expect([others.status, others.body.error.code]).to.deep.equal([403, 'agent_not_allowed']);
    expect(others.body.error.details).to.deep.equal({ agent_id: market.agentId });
    await restrict({ allowed_agents: [market.agentId] });
    expect((await execute(other.url, apiKey)).status).to.equal(200);
    await restrict({ allowed_agents: null, expires_at: new Date(Date.now() - 1).toISOString() });
    expect((await read(other.url, apiKey)).body.error.code).to.equal('unauthorized');
  });

  it('show the count and spend of the chain: failed calls count, and their price is subtracted again, but not returned to the allowance', async () => {
    const apiKey = await newKey();
    for (const url of [...urls(), market.relay.url]) expect((await execute(url, apiKey)).status).to.equal(200);
    market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id)));
    const before = (await request(other.url, '/v1/key', { apiKey })).body;
    expect(parseUsdc(before.balance_usdc)).to.equal((await market.balances()).callers[0]);
    const gasBalance = findSpender(wallet().publicKey);
    const lamports = await market.node.connection.getBalance(gasBalance);
    expect(before.gas).to.include({ gas_balance_address: gasBalance.toBase58(), lamports });
    expect(before.gas.next_call_lamports).to.be.within(10_000, 20_000);
    expect((await execute(other.url, apiKey)).status).to.equal(500);
    const after = (await request(other.url, '/v1/key', { apiKey })).body;
    const { total_remaining_usdc, balance_usdc } = before;
    expect(after).to.include({ total_remaining_usdc, balance_usdc, allowance_covers_total: true });
    expect(parseUsdc(before.allowance_usdc) - parseUsdc(after.allowance_usdc)).to.equal(PRICE);
    const grant = await grantOf(apiKey);
    expect([grant.executionCount, grant.totalSpent]).to.deep.equal([4n, 750_000n]);
    const shown = async () =>
      (await listKeys(market.marketplace, keypairSigner(wallet()))).find((key) => key.key_id === idOf(apiKey))!;
    await until(
      'the index has seen it',
      async () => (await shown()).execution_count === 4 && (await shown()).total_spent_usdc === 0.75,
    );
    const { last_used_at, ...rest } = await shown();
    expect(rest).to.include({ name: 'short-lived', execution_count: 4, total_spent_usdc: 0.75, revoked: false });
    expect(Date.now() - Date.parse(last_used_at!)).to.be.within(0, 30_000);
  });

  it('rotate to a key with the same limits and restrictions; the old key ends with its grace period', async () => {
    const apiKey = await newKey();
    const keyId = idOf(apiKey);
    await restrictKey(market.marketplace, {
      wallet: keypairSigner(wallet()),
      keyId,
      restrictions: { allowed_ips: ['127.0.0.1'], scopes: ['read'] },
    });
    const rotated = await rotateKey(market.marketplace, {
      wallet: keypairSigner(wallet()),
      keyId,
      graceSeconds: 3_600,
    });
    expect(rotated.replaces).to.equal(keyId);
    expect(Date.parse(rotated.replaced_until) - Date.now()).to.be.within(3_500_000, 3_600_000);
    for (const url of urls()) {
      for (const key of [apiKey, rotated.api_key]) {
        expect((await read(url, key)).status).to.equal(200);
        expect((await execute(url, key)).body.error.code).to.equal('insufficient_scope');
      }
    }
    const [old, made] = [await grantOf(apiKey), await grantOf(rotated.api_key)];
    for (const limit of ['perExecutionMax', 'periodMax', 'totalMax', 'periodSeconds', 'expiresAt'] as const) {
      expect(made[limit], limit).to.equal(old[limit]);
    }

    const next = await rotateKey(market.marketplace, {
      wallet: keypairSigner(wallet()),
      keyId: idOf(rotated.api_key),
      graceSeconds: 0,
    });
    for (const url of urls()) {
      expect((await read(url, rotated.api_key)).status).to.equal(401);
      expect((await read(url, apiKey)).status).to.equal(200);
      expect((await read(url, next.api_key)).status).to.equal(200);
    }
  });

  it('rejects: rotating a key that is revoked or belongs to another wallet', async () => {
    const apiKey = await newKey();
    await revokeKey(market.marketplace, { wallet: keypairSigner(wallet()), keyId: idOf(apiKey) });
    for (const keyId of [idOf(apiKey), '0'.repeat(32)]) {
      const rotated = rotateKey(market.marketplace, { wallet: keypairSigner(wallet()), keyId, graceSeconds: 60 });
      expect(await rotated.catch((error: Error) => error.name + error.message)).to.match(/no (valid )?key/);
    }
  });

  describe('for calls to creators', () => {
    let second: RunningRelay;
    const serve = useServers();
    let agentId: string;
    const signingKey = generateSigningKey();
    let verifiers: CallVerifier[] = [];
    const verdicts: boolean[][] = [];

    before(async () => {
      const url = await serve(async (incoming, response) => {
        const body = await buffer(incoming);
        verdicts.push(await Promise.all(verifiers.map((verify) => verify(incoming, body))));
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(goodAnswer(signingKey, JSON.parse(body.toString()).execution_id, 'done')));
      });
      const endpoint = `${url}/execute`;
      agentId = await market.list({ name: 'careful', endpoint, signingKey });
      const directoryUrl = market.relay.url + KEY_DIRECTORY_PATH;
      // A creator who read the directory before the second relay started.
      verifiers = [createCallVerifier({ directoryUrl })];
      await executeAt(market.relay.url);
      second = await startRelayHere(market, { SPONSOR: 'all', CALL_KEYS: join(market.dataDir, 'second-keys.json') });
      verifiers.push(createCallVerifier({ directoryUrl: second.url + KEY_DIRECTORY_PATH }));
    });

    async function directoryOf(url: string): Promise<KeyDirectory> {
      const { body, headers } = await request(url, KEY_DIRECTORY_PATH);
      expect(headers.get('cache-control')).to.equal('public, max-age=300');
      return body;
    }
    async function executeAt(url: string): Promise<void> {
      const answer = await request(url, `/v1/agents/${agentId}/execute`, {
        apiKey: market.callers[0]!.apiKey,
        body: { task: 'x' },
      });
      expect(answer.status, answer.text).to.equal(200);
    }

    it('serve the same keys at both, their own first, and never share the secrets', async () => {
      const [one, other] = [await directoryOf(market.relay.url), await directoryOf(second.url)];
      expect(one.keys.length).to.equal(2);
      for (const key of one.keys) expect(key).to.have.all.keys('kty', 'crv', 'x', 'kid', 'use');
      expect(other.keys).to.deep.equal(one.keys.toReversed());
      const rows = await market.query('ledger', 'SELECT * FROM call_keys ORDER BY kid');
      const listed = one.keys.map(({ kid, x }) => ({ kid, x })).sort((a, b) => (a.kid < b.kid ? -1 : 1));
      expect(rows.map(({ listed_until_ms, ...row }) => row)).to.deep.equal(listed);
      expect(existsSync(join(market.dataDir, 'second-keys.json'))).to.equal(true);
    });

    it('verify a signature of either relay with the directory of either', async () => {
      verdicts.length = 0;
      await executeAt(market.relay.url);
      await executeAt(second.url);
      expect(verdicts).to.deep.equal([
        [true, true],
        [true, true],
      ]);
    });

    it('forget the keys of a stopped relay once none of its calls can still be running', async () => {
      await second.stop();
      const [, others] = (await directoryOf(market.relay.url)).keys;
      expect(others).to.not.equal(undefined);
      await market.query('ledger', `UPDATE call_keys SET listed_until_ms = 0 WHERE kid = '${others!.kid}'`);
      expect((await directoryOf(market.relay.url)).keys.map(({ kid }) => kid)).to.not.include(others!.kid);
    });
  });
});
