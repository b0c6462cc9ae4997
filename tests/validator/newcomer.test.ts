/**
 * A newcomer's first hour on Agave's own validator with Alpenglow and every feature, as on today's clusters, started by the
 * lines of README.md. There are no cheat codes: tests wait. tests/relay accounts for every lamport, also after faults of a node.
 */
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { callRpc } from '../../app/cli/surfpool.ts';
import { CHECKS } from '../../app/sdk/receipt/verify.ts';
import { until } from '../harness/edge/until.ts';
import { findValidator, NO_VALIDATOR } from '../harness/node/validator.ts';
import { IndexerBench } from '../indexer/harness.ts';
import { cleanUp, newDirectory } from '../local/start.ts';
import { tellOfAnswers, tellOfHistory, untilLongEnough } from './history.ts';
import { createOwnNode } from './ownNode.ts';
import { tellOfPurchases } from './purchases.ts';
import { tellOfSignatures } from './runtime.ts';
import { createStage, type Stage } from './stage.ts';

const SANDBOX_PRICE = 10_000n;
const CONCURRENT = 32;
/** Much less than the minute that `sandbox-slow` has. */
const LEAST_PATIENCE_MS = 40_000;

describe('a newcomer on the validator with Alpenglow and every feature', function () {
  // Each step depends on the one before it.
  this.bail(true);
  this.timeout(900_000);
  let dataDir: string;
  let node: ReturnType<typeof createOwnNode>;
  let stage: Stage;
  let bench: IndexerBench;

  before(async function () {
    const program = findValidator();
    if (program === null) {
      console.log(`    ${NO_VALIDATOR}`);
      return this.skip();
    }
    // Created here, because cleanUp of another file deletes all existing directories.
    dataDir = newDirectory();
    node = createOwnNode(dataDir, program);
    stage = createStage(dataDir, node, node.startMarketplace);
    await node.start();
    bench = new IndexerBench({ node });
  });
  after(async () => {
    cleanUp();
    await bench?.close();
  });

  tellOfAnswers(() => stage);

  it('has a marketplace after the two lines of README.md, and an index beside it that stops soon', async () => {
    await stage.start();
    const { demo, send, lamports } = stage.visit();
    expect(demo.rpc_url).to.equal(node.rpcUrl);
    expect(await callRpc(node.rpcUrl, 'getAgGenesisCert'), 'the certificate of Alpenglow').not.to.equal(null);
    expect((await send('/ready', null)).body).to.include({ status: 'ready' });
    const relay = await lamports(new PublicKey(demo.relay_authorities[0]!));
    expect(relay > 490_000_000_000n, 'enough SOL from the faucet for a day of calls').to.equal(true);
    await bench.backfill('away.db');
  });

  tellOfSignatures(() => stage);
  tellOfPurchases(() => stage);
  describe('many concurrent calls, and their readers', () => {
    let id: string;

    it(`pays ${CONCURRENT} concurrent synchronous calls`, async () => {
      const { balances, execute, assertPaid } = stage.visit();
      const before = await balances();
      const tasks = Array.from({ length: CONCURRENT }, (_, index) => `call ${index}`);
      const answers = await Promise.all(tasks.map((task) => execute('sandbox-echo', { task })));
      expect(answers.map(({ status, body }) => [status, body.result])).to.deep.equal(tasks.map((task) => [200, task]));
      assertPaid(before, await balances(), 'sandbox-echo', BigInt(CONCURRENT) * SANDBOX_PRICE);
      id = answers[0]!.body.execution_id;
    });

    it('passes every check of a receipt with the validator alone', async () => {
      const { command, demo } = stage.visit();
      const file = join(stage.dataDir, 'receipt.json');
      await command(demo.callers[0]!.keypair_path, 'execution', 'receipt', id, '--file', file);
      const { checks, ...counts } = await command(null, 'execution', 'verify', file, '--rpc-url', demo.rpc_url);
      // No demo agent makes the signature that names the execution, so it is not checked.
      expect(counts, JSON.stringify(checks)).to.deep.equal({
        ...{ passed: CHECKS.length - 1, failed: 0, not_checked: 1 },
        status: 'completed',
      });
    });
  });

  describe('recovery from failures', () => {
    it('finishes eight running calls after the validator was killed and is back', async () => {
      await untilLongEnough(stage, bench);
      await callThroughRestart(stage, node);
    });
  });

  tellOfHistory(
    () => stage,
    () => bench,
  );
});

/**
 * Runs at least eight calls while the validator is killed and restarted. Each must end paid to the base unit, or refunded
 * if the restart took longer than the agent's timeout.
 */
async function callThroughRestart({ visit }: Stage, node: ReturnType<typeof createOwnNode>): Promise<void> {
  const before = await visit().balances();
  const body = { task: 'survive', parameters: { seconds: 4 }, async: true };
  const ids: string[] = [];
  // On a busy machine, all of them can end before this process sees one open.
  await until('a call is under way', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => visit().execute('sandbox-slow', body)));
    const begun = answers.map((answer) => answer.body.execution_id as string);
    ids.push(...begun);
    return (await Promise.all(begun.map((id) => visit().escrowExists(id)))).includes(true);
  });
  const brokenAt = performance.now();
  await node.kill();
  await node.start();
  const isLate = performance.now() - brokenAt > LEAST_PATIENCE_MS;
  const poll = () => Promise.all(ids.map(async (id) => (await visit().send(`/v1/executions/${id}`, 0)).body));
  const statuses = async () => (await poll()).map(({ status }) => status as string);
  const haveEnded = async () => (await statuses()).every((status) => status === 'completed' || status === 'failed');
  await until('all calls end', haveEnded, 120_000, async () => (await statuses()).join());
  const ended = await poll();
  const paid = ended.filter(({ status }) => status === 'completed').length;
  if (!isLate) expect(paid, JSON.stringify(ended)).to.equal(ids.length);
  visit().assertPaid(before, await visit().balances(), 'sandbox-slow', 20_000n * BigInt(paid));
  for (const { execution_id, status, error } of ended) {
    const outcome = status === 'completed' ? { completed: {} } : { refunded: {} };
    expect((await visit().readRecord(execution_id)).status).to.deep.equal(outcome);
    if (status === 'failed') expect(error.code).to.equal('execution_timeout');
  }
}
