/** Sweepers that die, or whose nodes fail. Another one completes their work once, for one fee. */
import { expect } from 'chai';
import { until } from '../../harness/edge/until.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { onPostgres } from '../../harness/postgres.ts';
import type { Step } from '../sweeper/sweeperProcess.ts';
import { type Stage, startStage } from '../sweeper/sweepStage.ts';

const FEE = 5_000;
/** Each sweeper is killed once at one of these steps. One is enough to see that another database stores the same. */
const STEPS: Step[] = onPostgres ? ['sent'] : ['signed', 'stored', 'sent', 'landed', 'nodes'];

describe('sweepers that die', () => {
  let stage: Stage;
  /** Number of leaves that must exist by now. */
  let leaves = 0;
  before(async () => {
    stage = await startStage();
    // The first sweeper creates the archive, whose rent would change the sums below.
    const executions = await stage.settled(1);
    await stage.pass();
    const sweeper = await stage.sweep();
    leaves = executions.length;
    await stage.followed(leaves);
    await sweeper.end();
  });
  after(() => stage.stop());

  for (const step of STEPS) {
    it(`completes the remaining work once, for one fee, after a kill when ${step}`, async () => {
      const executions = await stage.settled(26);
      await stage.pass();
      const rent = await stage.rentOf(executions);
      const caller = await stage.lamports(stage.caller.publicKey);
      const relay = await stage.lamports(stage.relay.publicKey);
      const doomed = await stage.sweep({ DIE_AT: step });
      await doomed.gone;
      const sweeper = await stage.sweep();
      leaves += 26;
      await stage.followed(leaves);
      expect(await stage.recordsLeft(executions)).to.equal(0);
      expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
      expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - FEE);
      await until('no outcome is unknown', async () => (await stage.pending()).length === 0);
      for (const execution of executions) await stage.proveBySpl((await stage.archiveRead(execution))!);
      await sweeper.end();
    });
  }

  it('archives each record once at 48 per fee when two relays run and one dies', async () => {
    const executions = await stage.settled(50);
    await stage.pass();
    const rent = await stage.rentOf(executions);
    const caller = await stage.lamports(stage.caller.publicKey);
    const relay = await stage.lamports(stage.relay.publicKey);
    const [first, second] = await Promise.all([stage.sweep(), stage.sweep()]);
    await until('the first leaf', async () => (await stage.leaves()).length > leaves);
    await first.kill();
    leaves += 50;
    await stage.followed(leaves);
    const rows = await stage.leaves();
    expect(rows.map(({ leaf_index }) => Number(leaf_index))).to.deep.equal([...rows.keys()]);
    expect(new Set(rows.map(({ record }) => record)).size).to.equal(leaves);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - 2 * FEE);
    await second.end();
  });

  /**
   * Expects that everything is swept once by another relay, after the node of the first fails once `isSoFar` is true.
   */
  async function expectTakenOver(
    node: Parameters<RpcProxy['onCall']>[0],
    settings: Record<string, string>,
    isSoFar: () => Promise<boolean>,
  ): Promise<void> {
    const executions = await stage.settled(2);
    await stage.pass();
    const relay = await stage.lamports(stage.relay.publicKey);
    const proxy = await startRpcProxy(stage.node);
    proxy.onCall(node);
    const failing = await stage.sweep({ SOLANA_RPC_URL: proxy.rpcUrl, ...settings });
    await until('it is so far', isSoFar);
    const sweeper = await stage.sweep();
    leaves += 2;
    await stage.followed(leaves);
    expect(await stage.recordsLeft(executions)).to.equal(0);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - FEE);
    await Promise.all([failing.end(), sweeper.end()]);
    await proxy.close();
  }

  it('passes to another relay when the node of the first fails', () =>
    expectTakenOver(() => ({ status: 500 }), {}, stage.isLed));

  it('lets another relay finish, once, what a relay signed before its node stopped answering', () => {
    const silent = ['sendTransaction', 'getSignatureStatuses'];
    return expectTakenOver(
      ({ method }) => (silent.includes(method) ? { status: 500 } : null),
      { PATIENCE_MS: '2000' },
      async () => (await stage.pending()).length > 0,
    );
  });
});
