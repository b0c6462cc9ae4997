/**
 * `npm start` on an external node: it says how to deploy what is missing, continues where it stopped, and never touches
 * the marketplace of another directory. postgres.test.ts has a node with cheat codes, where it deploys by itself.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { openLocalChain } from '../../app/local/chain.ts';
import { readConfig } from '../../app/local/config.ts';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { loadIdentities } from '../../app/local/identities.ts';
import { deployProgram } from '../../app/local/network.ts';
import { setUpChain } from '../../app/local/setup.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import type { MarketplaceError } from '../../app/sdk/client/error.ts';
import { loadSigningKey } from '../../app/sdk/creator/signingKey.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { formatSol } from '../../app/sdk/wire/sol.ts';
import { until } from '../harness/edge/until.ts';
import { startNode, type TestNode } from '../harness/node/node.ts';
import { type RpcProxy, startRpcProxy } from '../harness/node/rpcProxy.ts';
import { cleanUp, newDirectory, type Start, startNetwork, untilGone } from './start.ts';

/** Makes a Surfpool look and behave like any other node. `onRefused` is called for each use of a cheat code. */
async function hideCheatCodes(node: TestNode, onRefused: () => void): Promise<RpcProxy> {
  const proxy = await startRpcProxy(node);
  proxy.onCall(({ method }) => {
    const head = { jsonrpc: '2.0', id: '1' };
    if (method === 'getVersion') return { json: { ...head, result: { 'feature-set': 1, 'solana-core': '3.1.0' } } };
    if (!method.startsWith('surfnet_')) return null;
    onRefused();
    return { json: { ...head, error: { code: -32_601, message: 'Method not found' } } };
  });
  return proxy;
}

describe('npm start on another node, without cheat codes', () => {
  const dataDir = newDirectory();
  let node: TestNode;
  let proxy: RpcProxy;
  let refusedCodes = 0;
  let start: Start;
  let demo: DemoFile;
  let executionId: string;

  const place = () => ({ SOLANA_RPC_URL: proxy.rpcUrl, SOLANA_WS_URL: node.wsUrl });
  const startThere = (): Start => startNetwork(dataDir, { env: place() });
  /** Why `npm start` with this directory ends before it serves. */
  const setUp = async (directory: string): Promise<string> => {
    const chain = await openLocalChain(readConfig(place(), {}), null as never);
    return setUpChain(chain, loadIdentities(join(directory, 'demo')), directory).then(
      () => expect.fail('it was set up'),
      (error: Error) => error.message,
    );
  };
  const api = () => createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key });
  const call = () => {
    const agent_id = demo.agents.find(({ name }) => name === 'sandbox-echo')!.agent_id;
    return api().request('executeAgent', { agent_id, body: { task: 'carry on' } });
  };

  before(async () => {
    node = await startNode({ deploy: false });
    proxy = await hideCheatCodes(node, () => (refusedCodes += 1));
  });
  after(async () => {
    cleanUp();
    await proxy.close();
    await node.stop();
  });

  it('explains how to deploy, and serves there after the deployment', async () => {
    expect(await setUp(dataDir))
      .to.include(`The program ${PROGRAM_ID} is not deployed on ${proxy.rpcUrl}`)
      .and.include('npm run validator -- --reset')
      .and.include(`solana-test-validator --alpenglow --slots-per-epoch 64 --ledger ${join(dataDir, 'validator')} `)
      .and.include(`marketplace.so ${join(dataDir, 'demo', 'admin.json')} `);

    const admin = new PublicKey(loadSigningKey(join(dataDir, 'demo', 'admin.json')).subarray(32));
    await deployProgram(node.rpcUrl, { programId: PROGRAM_ID, upgradeAuthority: admin });
    start = startThere();
    demo = await start.ready;
    expect([demo.rpc_url, demo.ws_url]).to.deep.equal([proxy.rpcUrl, node.wsUrl]);
    const answer = await call();
    expect(answer.status).to.equal('completed');
    executionId = answer.execution_id;
    expect(refusedCodes).to.equal(0);
  });

  it('says whom to send SOL when the relay has too little, and accepts calls again afterwards', async () => {
    const relay = new PublicKey(demo.relay_authorities[0]!);
    const balance = () => node.connection.getBalance(relay, 'confirmed');
    const readiness = async () =>
      (await (await fetch(`${demo.base_url}/ready`)).json()) as { problems: string[]; advice: string[] };
    expect(await balance()).to.be.greaterThan(490 * LAMPORTS_PER_SOL);
    const told = () =>
      call().then(
        () => '',
        ({ message }: MarketplaceError) => message,
      );
    await node.fundSol(relay, 0.05 * LAMPORTS_PER_SOL);
    await until('it refuses all calls', async () =>
      (await told()).includes('The service has too little SOL for network fees. The operator must fund it.'),
    );
    await until('/ready says how much is missing, and to whom to send it', async () => {
      const { problems, advice } = await readiness();
      const missing = formatSol(BigInt(0.1 * LAMPORTS_PER_SOL - (await balance())));
      const isAdvised = advice[0]?.startsWith(`Send at least ${missing} SOL to the relay authority ${relay}.`);
      return problems.join() === 'fees_low' && isAdvised === true;
    });
    await node.fundSol(relay, 2 * LAMPORTS_PER_SOL);
    await until('it is ready again', async () => (await readiness()).problems.length === 0);
    expect((await call()).status).to.equal('completed');
    expect(refusedCodes).to.equal(0);
  });

  it('refuses a marketplace that belongs to another directory', async () => {
    expect(await setUp(newDirectory()))
      .to.include('has another relay authority')
      .and.include(demo.relay_authorities[0]);
  });

  it('leaves the node running at its end, and continues on the chain after the loss of its database', async () => {
    start.child.kill('SIGTERM');
    await untilGone(start);
    expect(await start.exited).to.equal(0);
    expect(await node.rpc('getHealth')).to.equal('ok');
    for (const name of readdirSync(dataDir).filter((file) => /^(ledger|index)\.db/.test(file))) {
      rmSync(join(dataDir, name));
    }
    const before = { ...demo, base_url: '' };
    start = startThere();
    demo = await start.ready;
    expect({ ...demo, base_url: '' }).to.deep.equal(before);
    expect(start.output()).to.include('continuing').and.not.include('fresh chain');
    const shown = await createClient({ baseUrl: demo.base_url }).request('listAgents');
    expect(shown.total).to.equal(demo.agents.length - 1);
    // Its API keys are registered again.
    const record = await api().request('getExecution', { execution_id: executionId });
    expect(record).to.include({ status: 'completed', result: null });
  });

  it('reports that no node answers', async () => {
    const nowhere = readConfig({ SOLANA_RPC_URL: 'http://127.0.0.1:1' }, {});
    const refusal = await openLocalChain(nowhere, null as never).catch((error) => error);
    expect(refusal).to.be.instanceOf(Refusal);
    expect(refusal.message).to.include('No Solana node answers at SOLANA_RPC_URL=http://127.0.0.1:1');
  });
});

describe('npm run validator', () => {
  after(cleanUp);

  it('says why the validator ended, which writes it only into its log', async () => {
    const [directory, folder] = [newDirectory(), newDirectory()];
    const program = '#!/bin/sh\n[ "$1" = --help ] || exit 101\n';
    writeFileSync(join(folder, 'solana-test-validator'), program, { mode: 0o755 });
    mkdirSync(join(directory, 'validator'));
    writeFileSync(
      join(directory, 'validator', 'validator.log'),
      "thread 'main' panicked at a.rs:1:\nport 8000 is in use\n",
    );
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    const validator = startNetwork(directory, { command: { line: 'npm run validator' }, env });
    expect(await validator.exited).to.equal(101);
    expect(validator.output()).to.include(
      'solana-test-validator ended with exit code 101. Its log says: port 8000 is in use\n',
    );
  });
});
