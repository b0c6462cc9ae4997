/** A relay starts although its node has too many records for a search: the index knows the open ones. */
import { expect } from 'chai';
import { NEEDED_FEATURES } from '../../../app/solana/features.ts';
import { until } from '../../harness/edge/until.ts';
import { type Answer, afterPaying, goodAnswer, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { useRpcProxy, withoutFeatures } from '../../harness/node/rpcProxy.ts';

/** More accounts than a relay reads at once. */
const LOST = 5;

describe('a starting relay', () => {
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

  it('names the setting of an address that it cannot listen on', async () => {
    const { port } = new URL(market.relay.url);
    const wrong: [settings: NodeJS.ProcessEnv, message: string][] = [
      [{ PORT: port }, `PORT ${port} of 127.0.0.1 is in use by another process. Stop it, or set another PORT.`],
      [{ HOST: '192.0.2.1' }, 'HOST 192.0.2.1 is not an address of this machine.'],
    ];
    for (const [settings, message] of wrong) {
      const refusal = await startRelayHere(market, settings).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(refusal).to.equal(message);
    }
  });

  it('accepts calls and refunds orphans once ledger and index agree, without getProgramAccounts', async () => {
    market.setBehaviour((body, _response, reply) => {
      if (body.task !== 'lost') reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
    });
    const start = await market.balances();
    const lose = async (): Promise<string> => {
      const { status, body, text } = await market.execute(market.relay.url, { task: 'lost', async: true });
      expect(status, text).to.be.oneOf([200, 202]);
      return body.execution_id;
    };
    const lost = await Promise.all(Array.from({ length: LOST }, lose));
    const open = "SELECT record FROM executions WHERE status = 'open'";
    await until('the index has them', async () => (await market.query('index', open)).length === LOST);
    await market.relay.kill();
    await market.forgetExecutions();

    let searches = 0;
    proxy.onCall(({ method }) => {
      if (method !== 'getProgramAccounts') return null;
      searches += 1;
      return 'silence';
    });
    const relay = await market.startRelayProcess(proxy.environment);
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
      const areRefunded = async () => (await market.countRecords(lost, 'refunded')) === LOST;
      await until('the lost ones are refunded', areRefunded);
      expect(await market.balances()).to.deep.equal(afterPaying(start));
    } finally {
      await relay.kill();
    }
  });
});
