import { expect } from 'chai';
import { until } from '../../harness/edge/until.ts';
import { afterPaying, goodAnswer, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { type Storage, startStorage } from '../../harness/storage.ts';

const LARGE = 'r'.repeat(100_000);

describe('a relay whose storage of results hangs', () => {
  let storage: Storage;
  const market = useMarketplace();
  before(async () => {
    storage = await startStorage();
    market.setBehaviour(({ execution_id }, _, reply) => reply(goodAnswer(market.signingKey, execution_id, LARGE)));
  });
  after(() => storage.stop());

  it('serves, settles, answers from the ledger, stops, and moves results once the storage is back', async () => {
    const settings = {
      SPONSOR: 'all',
      S3_ENDPOINT: storage.settings.endpoint,
      S3_BUCKET: storage.settings.bucket,
      S3_ACCESS_KEY_ID: storage.settings.accessKeyId,
      S3_SECRET_ACCESS_KEY: storage.settings.secretAccessKey,
    };
    let relay = await startRelayHere(market, settings);
    const execute = () => market.execute(relay.url, { task: 'large' });
    storage.state.weather = 'hangs';
    const before = await market.balances();
    const first = await execute();
    expect(first.status, first.text.slice(0, 300)).to.equal(200);
    await until('it asks the storage', async () => storage.state.held > 0);
    const second = await execute();
    expect(second.status, second.text.slice(0, 300)).to.equal(200);
    const after = await market.balances();
    expect(after).to.deep.equal(afterPaying(before, 2n));
    const isThere = async ({ body }: typeof first) => {
      const record = await market.read(relay.url, body.execution_id);
      return record.status === 200 && record.body.result === LARGE;
    };
    expect([await isThere(first), await isThere(second)]).to.deep.equal([true, true]);
    await relay.stop();

    storage.state.weather = 'fair';
    relay = await startRelayHere(market, settings);
    const stored = () => market.query('ledger', 'SELECT count(*) AS rows FROM results WHERE object_stored = 1');
    await until('both are in the storage', async () => Number((await stored())[0].rows) === 2);
    expect([await isThere(first), await isThere(second)]).to.deep.equal([true, true]);
    await relay.stop();
  });
});
