/** Sweepers that die, or whose nodes fail. Another one completes their work once, for one fee. */
import { expect } from 'chai';
import { until } from '../../harness/edge/until.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { onPostgres } from '../../harness/postgres.ts';
import type { Step, SweeperOptions } from '../sweeper/runSweeper.ts';
import { type Stage, startStage } from '../sweeper/sweepStage.ts';

/** Each sweeper is killed once at one of these steps. On PostgreSQL, the end of one of two relays is enough. */
const STEPS: Step[] = onPostgres ? [] : ['signed', 'stored', 'sent', 'landed', 'nodes'];

describe('sweepers that die', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
    // The first sweeper creates the archive, whose rent would change the sums below.
    await stage.ripe(1);
    await stage.sweep();
    await stage.followed(1);
    await stage.endSweepers();
  });
  afterEach(() => stage.endSweepers());
  after(() => stage.stop());

  for (const step of STEPS) {
    it(`completes the remaining work once, for one fee, after a kill when ${step}`, async () => {
      const { executions, requireSwept } = await stage.ripe(3);
      const doomed = await stage.sweepApart({ dieAt: step });
      await doomed.gone;
      await stage.sweep();
      await requireSwept(1);
      await until('no outcome is unknown', async () => (await stage.pending()).length === 0);
      for (const execution of executions) await stage.proveBySpl((await stage.archiveRead(execution))!);
    });
  }

  it('archives each record once at 48 per fee when two relays run and one dies', async () => {
    const { requireSwept } = await stage.ripe(50);
    const earlier = stage.expectedLeaves();
    const [first] = await Promise.all([stage.sweepApart(), stage.sweep()]);
    await until('the first leaf', async () => (await stage.leaves()).length > earlier);
    await first.end();
    await requireSwept(2);
    const rows = await stage.leaves();
    expect(rows.map(({ leaf_index }) => Number(leaf_index))).to.deep.equal([...rows.keys()]);
    expect(new Set(rows.map(({ record }) => record)).size).to.equal(earlier + 50);
  });

  // The rest depends on the node, not on the database.
  if (onPostgres) return;

  /**
   * Expects that everything is swept once by another relay, after the node of the first fails once `isSoFar` is true.
   */
  async function expectTakenOver(
    node: Parameters<RpcProxy['onCall']>[0],
    changes: Partial<SweeperOptions>,
    isSoFar: () => Promise<boolean>,
  ): Promise<void> {
    const { requireSwept } = await stage.ripe(2);
    const proxy = await startRpcProxy(stage.node);
    proxy.onCall(node);
    const failing = await stage.sweep({ rpcUrl: proxy.rpcUrl, ...changes });
    await until('it is so far', isSoFar);
    const sweeper = await stage.sweep();
    await requireSwept(1);
    await Promise.all([failing.end(), sweeper.end()]);
    await proxy.close();
  }

  it('passes to another relay when the node of the first fails', () =>
    expectTakenOver(() => ({ status: 500 }), {}, stage.isLed));

  it('lets another relay finish, once, what a relay signed before its node stopped answering', () => {
    const silent = ['sendTransaction', 'getSignatureStatuses'];
    return expectTakenOver(
      ({ method }) => (silent.includes(method) ? { status: 500 } : null),
      { patienceMs: 2_000 },
      async () => (await stage.pending()).length > 0,
    );
  });
});
