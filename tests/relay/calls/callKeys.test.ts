/** The keys that sign calls to creators: created once, kept private, rotated without a gap, and served by every relay. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { loadCallKeys, rotateCallKeys } from '../../../app/relay/outbound/callKeys.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { callKeyId, KEY_DIRECTORY_PATH, readPublicJwk, verifyCall } from '../../../app/sdk/creator/callSignature.ts';
import { type CallVerifier, createCallVerifier } from '../../../app/sdk/creator/callVerifier.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import type { KeyDirectory } from '../../../app/sdk/wire/wire.ts';
import { useServers } from '../../harness/edge/listen.ts';
import { goodAnswer, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';

describe('keys for calls to creators', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'call-keys-'));
    path = join(folder, 'call-keys.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The key ids in the directory that match the signature. */
  async function signerOf({ directory, sign }: ReturnType<typeof loadCallKeys>): Promise<string[]> {
    const body = Buffer.from('{}');
    const headers = await sign({ url: 'https://a.example/execute', body, purpose: 'execution', signingKey: 'x' });
    const call = { method: 'POST', authority: 'a.example', path: '/execute', headers, body };
    const signers: string[] = [];
    for (const jwk of directory.keys) {
      const findKey = async (keyId: string) => (keyId === jwk.kid ? readPublicJwk(jwk) : null);
      if (await verifyCall(call, findKey)) signers.push(jwk.kid);
    }
    return signers;
  }

  it('are created on the first start, readable by the owner only, and kept on the next start', async () => {
    // Its folder is DATA_DIR, which a relay on PostgreSQL may find missing.
    path = join(folder, 'data', 'call-keys.json');
    const first = loadCallKeys(path);
    expect(statSync(join(folder, 'data')).mode & 0o777).to.equal(0o700);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(first.directory.keys).to.have.length(1);
    const [key] = first.directory.keys;
    expect(key).to.have.all.keys('kty', 'crv', 'x', 'kid', 'use');
    expect(key!.kid).to.equal(callKeyId(key!));
    expect(loadCallKeys(path).directory).to.deep.equal(first.directory);
    expect(await signerOf(first)).to.deep.equal([key!.kid]);
  });

  it('sign with the new key after a change, list the previous key, and drop older ones', async () => {
    const [oldest] = loadCallKeys(path).directory.keys;
    const second = rotateCallKeys(path);
    const both = loadCallKeys(path);
    expect(both.directory.keys.map(({ kid }) => kid)).to.deep.equal([second, oldest!.kid]);
    expect(await signerOf(both)).to.deep.equal([second]);
    const third = rotateCallKeys(path);
    expect(loadCallKeys(path).directory.keys.map(({ kid }) => kid)).to.deep.equal([third, second]);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
  });

  for (const [what, text] of [
    ['no JSON', 'hello'],
    ['no keys', '{}'],
    ['another kind of key', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}]}'],
  ] as const) {
    it(`rejects: a file with ${what}, and names the file`, () => {
      writeFileSync(path, text);
      expect(() => loadCallKeys(path)).to.throw(path);
      expect(readFileSync(path, 'utf8')).to.equal(text);
    });
  }
});

describe('keys for calls to creators, of two relays on one ledger', () => {
  let second: RunningRelay;
  const serve = useServers();
  let agentId: string;
  const signingKey = generateSigningKey();
  let verifiers: CallVerifier[] = [];
  const verdicts: boolean[][] = [];

  const market = useMarketplace();
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
    await execute(market.relay.url);
    second = await startRelayHere(market, { SPONSOR: 'all', CALL_KEYS: join(market.dataDir, 'second-keys.json') });
    verifiers.push(createCallVerifier({ directoryUrl: second.url + KEY_DIRECTORY_PATH }));
  });

  async function directoryOf(url: string): Promise<KeyDirectory> {
    const { body, headers } = await request(url, KEY_DIRECTORY_PATH);
    expect(headers.get('cache-control')).to.equal('public, max-age=300');
    return body;
  }
  async function execute(url: string): Promise<void> {
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
    await execute(market.relay.url);
    await execute(second.url);
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
