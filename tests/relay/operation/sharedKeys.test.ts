import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { KEY_DIRECTORY_PATH } from '../../../app/sdk/creator/callSignature.ts';
import { type CallVerifier, createCallVerifier } from '../../../app/sdk/creator/callVerifier.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import type { KeyDirectory } from '../../../app/sdk/wire/wire.ts';
import { useServers } from '../../harness/edge/listen.ts';
import { goodAnswer, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';

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
