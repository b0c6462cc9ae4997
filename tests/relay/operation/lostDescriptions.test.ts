/** A ledger that has lost the descriptions of listings: what says so, and how an agent comes back. */
import { expect } from 'chai';
import { until } from '../../harness/edge/until.ts';
import { request, useMarketplace } from '../../harness/node/marketplace.ts';

describe('a ledger without descriptions', () => {
  const market = useMarketplace();

  const read = async (url: string) => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const [, missing] = /^marketplace_listings_without_description (\d+)$/m.exec(metrics)!;
    return [missing, (await request(url, '/v1/agents')).body.total];
  };

  it('says so by a metric and the log, and has the agent again once its creator has sent the same description', async () => {
    expect(await read(market.relay.url)).to.deep.equal(['0', 1]);
    const [{ document: body }] = (await market.query('ledger', 'SELECT document FROM documents')) as [
      { document: string },
    ];
    await market.relay.kill();
    await market.query('ledger', 'DELETE FROM documents');
    let log = '';
    const { url } = await market.startRelayProcess({ LOG_LEVEL: 'warn' }, (text) => {
      log += text;
    });
    expect(await read(url)).to.deep.equal(['1', 0]);
    await until('the log says so', () => /"listings":1,"msg":"active listings have no description/.test(log));
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${url}/v1/metadata`, { method: 'POST', headers, body });
    expect(status).to.equal(200);
    await until('it is listed', async () => String(await read(url)) === '0,1');
    expect((await market.execute(url, { task: 'x' })).status).to.equal(200);
  });
});
