/**
 * `npm start` on an external node: it deploys what is missing, continues where it stopped, and never touches the
 * marketplace of another directory.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { deployProgram } from '../../app/local/network.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import type { MarketplaceError } from '../../app/sdk/client/error.ts';
import { loadSigningKey } from '../../app/sdk/creator/signingKey.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
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

describe('npm start on another node', () => {
  const dataDir = newDirectory();
  let node: TestNode;
  let start: Start;
  let demo: DemoFile;
  let executionId: string;

  const startOn = (where: TestNode, directory = dataDir): Start =>
    startNetwork(directory, { env: { SOLANA_RPC_URL: where.rpcUrl, SOLANA_WS_URL: where.wsUrl } });
  const agentId = (name: string): string => demo.agents.find((agent) => agent.name === name)?.agent_id ?? '';
  const api = (caller: number) => createClient({ baseUrl: demo.base_url, apiKey: demo.callers[caller]?.api_key ?? '' });

  before(async () => {
    node = await startNode({ deploy: false });
  });
  after(async () => {
    cleanUp();
    await node.stop();
  });

  it('deploys by cheat code when the program is missing, and serves', async () => {
    start = startOn(node);
    demo = await start.ready;
    expect(demo.rpc_url).to.equal(node.rpcUrl);
    expect(demo.ws_url).to.equal(node.wsUrl);
    const answer = await api(0).request('executeAgent', {
      agent_id: agentId('sandbox-echo'),
      body: { task: 'carry on' },
    });
    expect(answer.status).to.equal('completed');
    executionId = answer.execution_id;
  });

  it('refuses a marketplace that belongs to another directory', async () => {
    const other = startOn(node, newDirectory());
    expect(await other.exited).to.equal(1);
    expect(other.output()).to.include('has another relay authority').and.include(demo.relay_authorities[0]);
    await untilGone(other);
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
    start = startOn(node);
    demo = await start.ready;
    expect({ ...demo, base_url: '' }).to.deep.equal(before);
    expect(start.output()).to.include('continuing').and.not.include('fresh chain');
    const shown = await createClient({ baseUrl: demo.base_url }).request('listAgents');
    expect(shown.total).to.equal(demo.agents.length - 1);
    // Its API keys are registered again.
    const record = await api(0).request('getExecution', { execution_id: executionId });
    expect(record).to.include({ status: 'completed', result: null });
  });

  describe('without cheat codes', () => {
    const directory = newDirectory();
    let bare: TestNode;
    let proxy: RpcProxy;
    let refusedCodes = 0;
    let working: Start;
    let there: DemoFile;
    const startThere = () =>
      startNetwork(directory, { env: { SOLANA_RPC_URL: proxy.rpcUrl, SOLANA_WS_URL: bare.wsUrl } });

    before(async () => {
      bare = await startNode({ deploy: false });
      proxy = await hideCheatCodes(bare, () => (refusedCodes += 1));
    });
    after(async () => {
      working?.signalGroup('SIGTERM');
      if (working) await untilGone(working);
      await proxy?.close();
      await bare.stop();
    });

    it('explains how to deploy, and serves there after the deployment', async () => {
      const refused = startThere();
      expect(await refused.exited).to.equal(1);
      expect(refused.output()).to.include(`The program ${PROGRAM_ID} is not deployed on ${proxy.rpcUrl}`);
      expect(refused.output()).to.include('npm run validator -- --reset');
      expect(refused.output()).to.include(
        `solana-test-validator --alpenglow --slots-per-epoch 64 --ledger ${join(directory, 'validator')} `,
      );
      expect(refused.output()).to.include(`marketplace.so ${join(directory, 'demo', 'admin.json')} `);

      const admin = new PublicKey(loadSigningKey(join(directory, 'demo', 'admin.json')).subarray(32));
      await deployProgram(bare.rpcUrl, { programId: PROGRAM_ID, upgradeAuthority: admin });
      working = startThere();
      there = await working.ready;
      expect(there.rpc_url).to.equal(proxy.rpcUrl);
      expect(refusedCodes).to.equal(0);
    });

    it('says whom to send SOL when the relay has too little, and accepts calls again afterwards', async () => {
      const relay = new PublicKey(there.relay_authorities[0]!);
      const balance = () => bare.connection.getBalance(relay, 'confirmed');
      const readiness = async () =>
        (await (await fetch(`${there.base_url}/ready`)).json()) as { problems: string[]; advice: string[] };
      const isReady = async () => (await readiness()).problems.length === 0;
      const client = createClient({ baseUrl: there.base_url, apiKey: there.callers[0]!.api_key });
      const echo = there.agents.find(({ name }) => name === 'sandbox-echo')!.agent_id;
      const call = () => client.request('executeAgent', { agent_id: echo, body: { task: 'x' } });
      expect(await balance()).to.be.greaterThan(490 * LAMPORTS_PER_SOL);

      const refused = (words: string) =>
        call().then(
          () => false,
          ({ message }: MarketplaceError) => message.includes(words),
        );
      await bare.fundSol(relay, 0.15 * LAMPORTS_PER_SOL);
      await until('it lends nothing of what it keeps for fees', () =>
        refused('The marketplace lends refundable deposits of at most 0 lamports to calls with keys at a time.'),
      );
      await bare.fundSol(relay, 0.05 * LAMPORTS_PER_SOL);
      await until('it refuses all calls', () =>
        refused('The service has too little SOL for network fees. The operator must fund it.'),
      );
      await until('/ready says how much is missing, and to whom to send it', async () => {
        const { problems, advice } = await readiness();
        const missing = formatSol(BigInt(0.1 * LAMPORTS_PER_SOL - (await balance())));
        const isAdvised = advice[0]?.startsWith(`Send at least ${missing} SOL to the relay authority ${relay}.`);
        return problems.join() === 'fees_low' && isAdvised === true;
      });

      await bare.fundSol(relay, 2 * LAMPORTS_PER_SOL);
      await until('it is ready again', isReady);
      expect((await call()).status).to.equal('completed');
      expect(refusedCodes).to.equal(0);
    });
  });

  it('reports that no node answers', async () => {
    const env = { SOLANA_RPC_URL: 'http://127.0.0.1:1', SOLANA_WS_URL: 'ws://127.0.0.1:1' };
    const nowhere = startNetwork(newDirectory(), { env });
    expect(await nowhere.exited).to.equal(1);
    expect(nowhere.output()).to.include('No Solana node answers at SOLANA_RPC_URL=http://127.0.0.1:1');
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
