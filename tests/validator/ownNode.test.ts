/** Runs the README's lines for your own node in two terminals, with Agave's validator on the PATH. */
import { symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Connection, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { callRpc } from '../../app/cli/surfpool.ts';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { decodeAccount, findExecution } from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { blocksOf } from '../docs/markdown.ts';
import { until } from '../harness/edge/until.ts';
import { isFree } from '../harness/freePort.ts';
import { findValidator, NO_VALIDATOR, README_GOSSIP_PORT, setAllPriorities } from '../harness/node/validator.ts';
import { cleanUp, newDirectory, type Start, startNetwork, untilGone } from '../local/start.ts';

const MARK = 'run by tests/validator/ownNode.test.ts';
const RPC_URL = 'http://127.0.0.1:8899';

describe('your own node, as in README.md,', function () {
  // Each step depends on the one before it.
  this.bail(true);
  const node = new Connection(RPC_URL, 'confirmed');
  let dataDir: string;
  let folder: string;
  let validator: Start;
  let marketplace: Start;
  let demo: DemoFile;
  let record: PublicKey;

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

  /** Runs a line of the README in a terminal of its own. */
  function paste(at: number): Start {
    const lines = blocksOf('README.md')
      .find(({ mark }) => mark === MARK)!
      .text.trim()
      .split('\n');
    expect(lines).to.have.length(2);
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    return startNetwork(dataDir, { command: { line: lines[at]! }, env });
  }

  /** Runs the first line, and waits until its node has reached this slot. */
  async function startNode(slot: number): Promise<void> {
    await until('the default ports are free', async () => {
      const free = await Promise.all([README_GOSSIP_PORT, Number(new URL(RPC_URL).port)].map(isFree));
      return free.every(Boolean);
    });
    validator = paste(0);
    let hasEnded = false;
    void validator.exited.then(() => {
      hasEnded = true;
    });
    await until('the node makes blocks', async () => {
      if (hasEnded) throw new Error(`the validator did not start:\n${validator.output()}`);
      return (await node.getSlot().catch(() => 0)) >= slot;
    });
    setAllPriorities();
  }

  async function interrupt(start: Start): Promise<void> {
    start.signalGroup('SIGINT');
    await untilGone(start);
  }

  const api = () => createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key });

  it('starts a ready marketplace with two lines, and accepts a paid call', async () => {
    await startNode(2);
    marketplace = paste(1);
    demo = await marketplace.ready;
    expect(demo.rpc_url).to.equal(RPC_URL);
    expect(await callRpc(RPC_URL, 'getAgGenesisCert'), 'the certificate of Alpenglow').not.to.equal(null);
    const agent = demo.agents.find(({ name }) => name === 'sandbox-echo')!;
    const answer = await api().request('executeAgent', { agent_id: agent.agent_id, body: { task: 'on my own node' } });
    expect(answer).to.include({ status: 'completed', result: 'on my own node' });
    record = findExecution(parseUuid(answer.execution_id)!);
    expect(await (await fetch(`${demo.base_url}/ready`)).json()).to.include({ status: 'ready' });
    const relay = new PublicKey(demo.relay_authorities[0]!);
    expect(await node.getBalance(relay), 'enough SOL from the faucet for a day of calls').to.be.greaterThan(
      490 * LAMPORTS_PER_SOL,
    );
  });

  it('continues with the same chain after both are stopped and the node is started again', async () => {
    const slot = await node.getSlot();
    await interrupt(marketplace);
    await interrupt(validator);
    await startNode(slot + 1);
    const { status } = decodeAccount('ExecutionRecord', (await node.getAccountInfo(record))!.data);
    expect(status).to.equal('completed');
    await interrupt(validator);
  });
});
