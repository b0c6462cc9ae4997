/** Runs the README's lines for your own node in two terminals, with Agave's validator on the PATH. */
import { symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Connection, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { callRpc } from '../../app/cli/surfpool.ts';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { blocksOf } from '../docs/markdown.ts';
import { until } from '../harness/edge/until.ts';
import { isFree } from '../harness/freePort.ts';
import { findValidator, NO_VALIDATOR, README_GOSSIP_PORT, setAllPriorities } from '../harness/node/validator.ts';
import { cleanUp, newDirectory, type Start, startNetwork, untilGone } from '../local/start.ts';

const MARK = 'run by tests/validator/ownNode.test.ts';

describe('your own node, as in README.md,', function () {
  // Each step depends on the one before it.
  this.bail(true);
  let dataDir: string;
  let folder: string;
  let validator: Start;
  let marketplace: Start;
  let demo: DemoFile;
  let executionId: string;

  before(function () {
    const program = findValidator();
    if (program === null) {
      console.log(`      ${NO_VALIDATOR}`);
      this.skip();
    }
    // Created here, because cleanUp of another file deletes all existing directories.
    [dataDir, folder] = [newDirectory(), newDirectory()];
    symlinkSync(program, join(folder, 'solana-test-validator'));
  });
  after(cleanUp);

  /** Runs each line in its own terminal, the second one when the first one's node makes blocks. */
  async function paste(): Promise<void> {
    const block = blocksOf('README.md').find(({ mark }) => mark === MARK);
    const [first, second, ...more] = block!.text.trim().split('\n');
    expect(more).to.deep.equal([]);
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    const node = new Connection(/SOLANA_RPC_URL=(\S+)/.exec(second!)![1]!, 'confirmed');
    await until('the default ports are free', async () => {
      const free = await Promise.all([README_GOSSIP_PORT, Number(new URL(node.rpcEndpoint).port)].map(isFree));
      return free.every(Boolean);
    });
    validator = startNetwork(dataDir, { command: { line: first! }, env });
    let hasEnded = false;
    void validator.exited.then(() => {
      hasEnded = true;
    });
    await until('the node makes blocks', async () => {
      if (hasEnded) throw new Error(`the validator did not start:\n${validator.output()}`);
      return (await node.getSlot().catch(() => 0)) >= 2;
    });
    setAllPriorities();
    marketplace = startNetwork(dataDir, { command: { line: second! }, env });
    demo = await marketplace.ready;
  }

  async function interrupt(): Promise<void> {
    for (const start of [marketplace, validator]) {
      start.signalGroup('SIGINT');
      await untilGone(start);
    }
  }

  const api = () => createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key });

  it('starts a ready marketplace with two lines, and accepts a paid call', async () => {
    await paste();
    expect(demo.rpc_url).to.equal('http://127.0.0.1:8899');
    expect(await callRpc(demo.rpc_url, 'getAgGenesisCert'), 'the certificate of Alpenglow').not.to.equal(null);
    const agent = demo.agents.find(({ name }) => name === 'sandbox-echo')!;
    const answer = await api().request('executeAgent', { agent_id: agent.agent_id, body: { task: 'on my own node' } });
    expect(answer).to.include({ status: 'completed', result: 'on my own node' });
    executionId = answer.execution_id;
    expect(await (await fetch(`${demo.base_url}/ready`)).json()).to.include({ status: 'ready' });
  });

  it('gives the relay enough SOL from its faucet for a day of calls', async () => {
    const relay = new PublicKey(demo.relay_authorities[0]!);
    expect(await new Connection(demo.rpc_url, 'confirmed').getBalance(relay)).to.be.greaterThan(490 * LAMPORTS_PER_SOL);
  });

  it('continues with the same chain after both are stopped and started again', async () => {
    const { agents } = demo;
    await interrupt();
    await paste();
    expect(marketplace.output()).to.include('continuing').and.not.include('fresh chain');
    expect(demo.agents).to.deep.equal(agents);
    expect((await api().request('getExecution', { execution_id: executionId })).status).to.equal('completed');
    await interrupt();
  });
});
