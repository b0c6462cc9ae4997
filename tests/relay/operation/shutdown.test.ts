import { expect } from 'chai';
import { deferred, untilFound } from '../../harness/edge/until.ts';
import { afterPaying, goodAnswer, PRICE, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { type RelayMain, startRelayMain, useIndexer } from '../../harness/node/relayMain.ts';

describe('stopping the relay', function () {
  // A test continues with the relay that the one before has started again.
  this.bail(true);
  let relay: RelayMain;

  const market = useMarketplace();
  useIndexer(market);
  after(async () => {
    relay?.child.kill('SIGKILL');
    await relay?.exited;
  });

  const execute = (url: string, task: string) => market.execute(url, { task });

  /** A creator that is called and does not answer until `answer` is called; from then on it always answers. */
  function holdCreator() {
    const { promise: released, resolve: release } = deferred();
    const called = new Promise<string>((resolve) => {
      market.setBehaviour((body, _response, reply) => {
        resolve(body.execution_id);
        released.then(() => reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`)));
      });
    });
    return { called, answer: release };
  }

  it('answers 202 to waiting callers, exits with 0 in time, and pays the call after the restart', async () => {
    relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '2' });
    const before = await market.balances();
    const creator = holdCreator();
    const call = execute(relay.url, 'interrupted');
    const executionId = await creator.called;
    const told = performance.now();
    relay.child.kill('SIGTERM');
    const answer = await call;
    expect(answer.status).to.equal(202);
    expect(answer.body).to.deep.equal({ execution_id: executionId, status: 'running' });
    expect(await relay.exited).to.equal(0);
    expect(performance.now() - told).to.be.lessThan(60_000);
    expect(await fetch(`${relay.url}/health`).catch(() => 'refused')).to.equal('refused');
    expect(await market.escrowExists(executionId)).to.equal(true);
    expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);

    creator.answer();
    relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '60' });
    expect(await market.endOf(relay.url, executionId)).to.include({ result: 'done: interrupted', cost_usdc: 0.25 });
    expect(await market.balances()).to.deep.equal(afterPaying(before));
    expect(await market.escrowExists(executionId)).to.equal(false);
  });

  it('finishes a call that is nearly done, and starts nothing new', async () => {
    const { url, log, child } = relay;
    const before = await market.balances();
    const creator = holdCreator();
    const call = execute(url, 'nearly done');
    await creator.called;
    const told = performance.now();
    child.kill('SIGTERM');
    await untilFound('the stop', () => (log().includes('"stopping"') ? true : null));
    expect(await fetch(`${url}/ready`).catch(() => 'refused')).to.equal('refused');
    creator.answer();
    const answer = await call;
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ status: 'completed', result: 'done: nearly done' });
    expect(await relay.exited).to.equal(0);
    expect(performance.now() - told).to.be.lessThan(58_000);
    expect(await market.balances()).to.deep.equal(afterPaying(before));
  });

  it('exits at once on a second signal', async () => {
    relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '600' });
    const { child } = relay;
    const before = await market.balances();
    const creator = holdCreator();
    const call = execute(relay.url, 'cut off').catch(() => 'no answer');
    const executionId = await creator.called;
    const told = performance.now();
    // Signals that arrive together count as one, so it is signalled until it listens.
    const again = setInterval(() => child.kill('SIGTERM'), 100);
    const code = await relay.exited.finally(() => clearInterval(again));
    expect(code).to.equal(1);
    expect(performance.now() - told).to.be.lessThan(300_000);
    expect(await call).to.equal('no answer');

    creator.answer();
    relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '600', LEAVE_SECONDS: '60' });
    expect(await market.endOf(relay.url, executionId)).to.include({ status: 'completed' });
    expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);
  });

  it('warns proxies first, serves requests that still arrive, and closes their connections afterwards', async () => {
    const { url, child } = relay;
    const before = await market.balances();
    child.kill('SIGTERM');
    const unready = await untilFound('the announcement', async () => {
      const ready = await request(url, '/ready');
      return ready.status === 503 ? ready : null;
    });
    expect(unready.body.problems).to.include('stopping');
    const answer = await execute(url, 'while it leaves');
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('connection')).to.equal('close');
    expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);
  });
});
