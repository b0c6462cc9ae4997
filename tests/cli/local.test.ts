/** `local fund` and `local travel`: they work on the local network and nowhere else. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getAccount, getMint } from '@solana/spl-token';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { until } from '../harness/edge/until.ts';
import { cleanUp, newDirectory, startNetwork } from '../local/start.ts';
import { type Run, runHere } from './run.ts';

describe('the command line on the local network', function () {
  this.timeout(600_000);
  const dataDir = newDirectory();
  let demo: DemoFile;
  let connection: Connection;

  const local = (...words: string[]): Promise<Run> => runHere(['local', ...words, '--json'], { DATA_DIR: dataDir });
  const done = async (...words: string[]) => {
    const { code, stdout, stderr } = await local(...words);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  const seconds = (time: string): number => Date.parse(time) / 1_000;

  before(async () => {
    demo = await startNetwork(dataDir).ready;
    connection = new Connection(demo.rpc_url, 'confirmed');
  });
  after(cleanUp);

  it('fund gives a new wallet SOL and USDC, and adds to an existing balance', async () => {
    const wallet = Keypair.generate().publicKey.toBase58();
    expect(await done('fund', wallet, '--sol', '2', '--usdc', '10.5')).to.deep.equal({ wallet, sol: 2, usdc: '10.5' });
    expect(await done('fund', wallet, '--usdc', '0.000001')).to.deep.equal({ wallet, sol: 2, usdc: '10.500001' });
    expect(await done('fund', wallet, '--sol', '0.000000001')).to.deep.equal({
      ...{ wallet, sol: 2.000000001, usdc: '10.500001' },
    });
  });

  it('fund is suggested to a wallet without money', async () => {
    const path = join(dataDir, 'poor.json');
    const { address } = JSON.parse((await runHere(['keys', 'new', path, '--json'])).stdout);
    const advice = `On this local network: \`npm run cli -- local fund ${address} --sol 1 --usdc 100\`.\n`;
    const create = () => runHere(['keys', 'create', '--name', 'x', '--keypair', path], { DATA_DIR: dataDir });
    expect((await create()).stderr)
      .to.include('has no USDC account')
      .and.include(advice);
    await done('fund', address, '--usdc', '1');
    expect((await create()).stderr)
      .to.include('has too little SOL for fees and refundable deposits.')
      .and.include(advice);
    await done('fund', address, '--sol', '1');
    expect((await create()).code).to.equal(0);
  });

  it('fund does not change an allowance, and the supply of the mint stays correct', async () => {
    const [caller] = demo.callers;
    const mint = new PublicKey(demo.usdc_mint);
    const account = findTokenAccount(new PublicKey(caller!.wallet), mint);
    const allowance = async () => (await getAccount(connection, account)).delegatedAmount;
    const [supply, allowed] = [(await getMint(connection, mint)).supply, await allowance()];
    await done('fund', caller!.wallet, '--usdc', '7');
    expect((await getMint(connection, mint)).supply).to.equal(supply + 7_000_000n);
    expect(await allowance()).to.equal(allowed);
  });

  it('travel moves the clock by the given hours, and calls are paid and completed after each move', async () => {
    const api = createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key });
    const agentId = demo.agents.find(({ name }) => name === 'sandbox-echo')!.agent_id;
    // Ten minutes past midnight, ids still carry the day before, and ids of the day before that are refused.
    const beforeMidnight = 24 - ((Date.now() / 3_600_000 + 1.5) % 24);
    for (const hours of [1.5, Math.round((72 + beforeMidnight + 1 / 6) * 100) / 100, 24]) {
      const { from, now } = await done('travel', String(hours));
      const travelled = seconds(now) - seconds(from);
      // The clock also runs on during the command, longer on a busy computer.
      expect(travelled).to.be.within(hours * 3_600, hours * 3_600 + 600);
      const answer = await api.request('executeAgent', { agent_id: agentId, body: { task: `after ${hours} hours` } });
      // A call can take longer than it waits, because of work that was in progress when the clock jumped.
      expect(answer.status).to.be.oneOf(['completed', 'running']);
      const record = await ended(api, answer.execution_id);
      expect(record.status).to.equal('completed');
      expect(record.cost_usdc).to.equal(0.01);
      expect(seconds(record.completed_at!)).to.be.at.least(seconds(now));
      await until('it is ready', async () => (await api.request('getReady')).problems.length === 0);
    }
  });

  it('refuses invalid amounts and hours as wrong usage', async () => {
    const wallet = demo.callers[0]!.wallet;
    for (const words of [
      ['fund', 'nobody', '--sol', '1'],
      ['fund', wallet, '--sol', '0'],
      ['fund', wallet, '--sol', '1e3'],
      ['fund', wallet, '--usdc', '-1'],
      ['travel', '-1'],
      ['travel', '0'],
      ['travel', 'far'],
    ]) {
      expect((await runHere(['local', ...words])).code, words.join(' ')).to.equal(2);
    }
    const { code, stderr } = await local('fund', wallet);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'Give an amount: --sol N, --usdc N, or both.\n' });
  });

  it('refuses to run without a local network', async () => {
    const empty = newDirectory();
    const { code, stderr } = await runHere(['local', 'travel', '1'], { DATA_DIR: empty });
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      `No local network is running in ${empty}. Start one with \`npm start\`, or set DATA_DIR to its folder.\n`,
    );
  });

  it('refuses a node that is not local, and asks it only for its version', async () => {
    const methods: string[] = [];
    const cluster = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      methods.push(method);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { 'feature-set': 1, 'solana-core': '3.1.0' } }));
    });
    cluster.listen(0, '127.0.0.1');
    await once(cluster, 'listening');
    const rpc_url = `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`;
    const elsewhere = newDirectory();
    writeFileSync(join(elsewhere, 'demo.json'), JSON.stringify({ ...demo, rpc_url }));
    for (const words of [
      ['fund', demo.callers[0]!.wallet, '--sol', '1', '--usdc', '1'],
      ['travel', '1'],
    ]) {
      const { code, stdout, stderr } = await runHere(['local', ...words], { DATA_DIR: elsewhere });
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.include(`The node at ${rpc_url} is not Surfpool.`);
    }
    expect(methods).to.deep.equal(['getVersion', 'getVersion']);
    cluster.close();
    cluster.closeAllConnections();
  });
});

/** The execution once it has ended, or its state after a minute. */
async function ended(api: ReturnType<typeof createClient>, executionId: string) {
  const patientUntil = Date.now() + 60_000;
  for (;;) {
    const record = await api.request('getExecution', { execution_id: executionId });
    if (record.completed_at !== null || Date.now() > patientUntil) return record;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
