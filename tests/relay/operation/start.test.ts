/** A relay starts although its node has too many records for a search: the index knows the open ones. */
import { expect } from 'chai';
import { NEEDED_FEATURES } from '../../../app/solana/features.ts';
import { until } from '../../harness/edge/until.ts';
import { type Answer, FEE, goodAnswer, PRICE, useMarketplace } from '../../harness/node/marketplace.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';
import { useRpcProxy, withoutFeatures } from '../../harness/node/rpcProxy.ts';

/** More accounts than a node reads in one call. */
const LOST = 101;

describe('a starting relay', function () {
  // Each wait below has its own progress check; this limit is only against a test that hangs.
  this.timeout(900_000);
  const market = useMarketplace({ timeoutSeconds: 600 });
  const proxy = useRpcProxy(market);

  it('does not start on a cluster without the features that the program needs, and names each', async () => {
    proxy.onCall(withoutFeatures);
    const started = startRelayHere(market, proxy.environment);
    const refusal = await started.then(
      () => 'it started',
      (error: Error) => error.message,
    );
    for (const { key, name } of NEEDED_FEATURES) expect(refusal).to.include(`${name} (feature ${key})`);
  });

  it('accepts calls and refunds orphans once ledger and index agree, without getProgramAccounts', async () => {
    market.setBehaviour((body, _response, reply) => {
      if (body.task !== 'lost') reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
    });
    const start = await market.balances();
    const lost: string[] = [];
    const lose = async (): Promise<void> => {
      while (begun < LOST) {
        begun += 1;
        const { status, body, text } = await market.execute(market.relay.url, { task: 'lost', async: true });
        expect(status, text).to.be.oneOf([200, 202]);
        lost.push(body.execution_id);
      }
    };
    let begun = 0;
    await Promise.all(Array.from({ length: 12 }, lose));
    const countOpen = async () => {
      const [row] = await market.query('index', "SELECT count(*) AS open FROM executions WHERE status = 'open'");
      return Number(row.open);
    };
    await until('the index has the open records', async () => (await countOpen()) === LOST, 60_000, countOpen);
    await market.relay.kill();
    await market.forgetExecutions();

    let searches = 0;
    proxy.onCall(({ method }) => {
      if (method !== 'getProgramAccounts') return null;
      searches += 1;
      return 'silence';
    });
    const relay = await market.startRelayProcess({ ...FORGETFUL, ...proxy.environment });
    try {
      let served!: Answer;
      await until('a call is taken', async () => {
        served = await market.execute(relay.url, { task: 'new' });
        if (served.status === 503) expect(served.body.error.code).to.equal('service_unavailable');
        return served.status !== 503;
      });
      expect(served.status).to.equal(200);
      expect(searches).to.be.greaterThan(0);
      const states = (await market.journal()).map(({ execution_id, state }) => [execution_id, state]);
      expect(states).to.have.deep.members([...lost.map((id) => [id, 'parked']), [served.body.execution_id, 'settled']]);

      const records = await Promise.all(lost.map((id) => market.record(id)));
      const latest = records.reduce((last, record) => Math.max(last, Number(record!.refundAt)), 0);
      await market.node.timeTravel(latest);
      const countRefunded = () => market.countRecords(lost, 'refunded');
      const allAre = async () => (await countRefunded()) === LOST;
      await until('the lost ones are refunded', allAre, 60_000, countRefunded);
      const end = await market.balances();
      expect(end.callers[0]).to.equal(start.callers[0]! - PRICE);
      expect(end.creator).to.equal(start.creator + PRICE - FEE);
      expect(end.treasury).to.equal(start.treasury + FEE);
    } finally {
      await relay.kill();
    }
  });
});
