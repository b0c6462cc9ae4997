/**
 * A chapter of the journey: the allowance and the end of keys by commands, and `local fund` and `local travel`, which work
 * on the local network and nowhere else.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAccount, getMint } from '@solana/spl-token';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { until, untilFound } from '../harness/edge/until.ts';
import { startRpcProxy } from '../harness/node/rpcProxy.ts';
import { newDirectory } from '../local/start.ts';
import { runHere } from './run.ts';

/** Declares the tests. `network` is that of `dataDir`; its clock is moved forward. */
export function usesCommands(network: () => DemoFile, dataDir: string): void {
  describe('the command line', () => {
    let demo: DemoFile;
    let connection: Connection;

    const local = (...args: string[]) => runHere(args, { DATA_DIR: dataDir });
    const delegatedBy = async (wallet: string) => {
      const address = findTokenAccount(new PublicKey(wallet), new PublicKey(demo.usdc_mint));
      return (await getAccount(connection, address, 'confirmed')).delegatedAmount;
    };

    before(async () => {
      demo = network();
      connection = new Connection(demo.rpc_url, 'confirmed');
    });

    it("raises the allowance to twice the key's spending limit, sets the named amount, and renews it", async () => {
      const caller = demo.callers[1] as DemoFile['callers'][number];
      const create = (...args: string[]) =>
        local('keys', 'create', '--name', 'more', '--keypair', caller.keypair_path, ...args);
      const raised = await create('--total', '1500');
      expect(raised.code, raised.stderr).to.equal(0);
      expect(await delegatedBy(caller.wallet)).to.equal(3_000_000_000n);
      const named = await create('--allowance', '20.5');
      expect(named.stdout).to.include('allowance_usdc: 20.5\n');
      expect(await delegatedBy(caller.wallet)).to.equal(20_500_000n);
      const renewed = await local('keys', 'allowance', '1000', '--keypair', caller.keypair_path);
      expect(renewed.stdout, renewed.stderr).to.include('allowance_usdc: 1000\n');
      expect(await delegatedBy(caller.wallet)).to.equal(1_000_000_000n);
    });

    it('revokes a grant with the wallet alone', async () => {
      const caller = demo.callers[1] as DemoFile['callers'][number];
      const keyId = Buffer.from(keyIdOf(caller.api_key)).toString('hex');
      const { code, stderr } = await runHere([
        ...['keys', 'revoke', keyId, '--on-chain-only', '--keypair', caller.keypair_path],
        ...['--rpc-url', demo.rpc_url],
      ]);
      expect(code, stderr).to.equal(0);
      const api = createClient({ baseUrl: demo.base_url, apiKey: caller.api_key });
      // The service learns of it from the index, once the index has read the block.
      const refused = await untilFound('the key is refused', () =>
        api.request('listExecutions').then(
          () => null,
          (error: unknown) => error,
        ),
      );
      expect(refused).to.include({ status: 401, code: 'unauthorized' });
    });

    it('shows agents as a table', async () => {
      const { code, stdout } = await local('agents', 'list', '--tags', 'sql');
      expect(code).to.equal(0);
      const lines = stdout.trimEnd().split('\n');
      expect(lines).to.have.length(2);
      expect(lines[0]).to.match(/^agent_id +name +price_per_call_usdc/);
      expect(lines[1]).to.include('csv-analyst');
    });

    describe('local', () => {
      const done = async (...words: string[]) => {
        const { code, stdout, stderr } = await local('local', ...words, '--json');
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        return JSON.parse(stdout);
      };
      const seconds = (time: string): number => Date.parse(time) / 1_000;

      it('fund gives a new wallet SOL and USDC, adds to a balance, and the supply of the mint stays correct', async () => {
        const wallet = Keypair.generate().publicKey.toBase58();
        const supply = async () => (await getMint(connection, new PublicKey(demo.usdc_mint))).supply;
        const before = await supply();
        expect(await done('fund', wallet, '--sol', '2', '--usdc', '10.5')).to.deep.equal({
          wallet,
          sol: 2,
          usdc: '10.5',
        });
        expect(await done('fund', wallet, '--usdc', '0.000001')).to.deep.equal({ wallet, sol: 2, usdc: '10.500001' });
        expect(await done('fund', wallet, '--sol', '0.000000001')).to.deep.equal({
          ...{ wallet, sol: 2.000000001, usdc: '10.500001' },
        });
        expect(await supply()).to.equal(before + 10_500_001n);
      });

      it('fund is suggested to a wallet without money', async () => {
        const path = join(dataDir, 'poor.json');
        const { address } = JSON.parse((await runHere(['keys', 'new', path, '--json'])).stdout);
        const advice = `On this local network: \`npm run cli -- local fund ${address} --sol 1 --usdc 100\`.\n`;
        const create = () => local('keys', 'create', '--name', 'x', '--keypair', path);
        const account = findTokenAccount(new PublicKey(address), new PublicKey(demo.usdc_mint));
        expect((await create()).stderr)
          .to.include(`The wallet ${address} has no USDC account`)
          .and.include(account.toBase58())
          .and.include(advice);
        await done('fund', address, '--usdc', '1');
        expect((await create()).stderr)
          .to.include('has too little SOL for fees and refundable deposits.')
          .and.include(advice);
        await done('fund', address, '--sol', '1');
        expect((await create()).code).to.equal(0);
      });

      it('travel moves the clock by the given hours, and calls are paid and completed after each move', async () => {
        const api = createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key });
        const agentId = demo.agents.find(({ name }) => name === 'sandbox-echo')!.agent_id;
        // Ten minutes past midnight, ids still carry the day before, and ids of the day before that are refused.
        const beforeMidnight = 24 - ((Date.now() / 3_600_000 + 1.5) % 24);
        for (const hours of [1.5, Math.round((72 + beforeMidnight + 1 / 6) * 100) / 100]) {
          const { from, now } = await done('travel', String(hours));
          const travelled = seconds(now) - seconds(from);
          // The clock also runs on during the command, longer on a busy computer.
          expect(travelled).to.be.within(Math.floor(hours * 3_600), hours * 3_600 + 600);
          const answer = await api.request('executeAgent', {
            agent_id: agentId,
            body: { task: `after ${hours} hours` },
          });
          // A call can take longer than it waits, because of work that was in progress when the clock jumped.
          expect(answer.status).to.be.oneOf(['completed', 'running']);
          const record = await ended(api, answer.execution_id);
          expect(record.status).to.equal('completed');
          expect(record.cost_usdc).to.equal(0.01);
          expect(seconds(record.completed_at!)).to.be.at.least(seconds(now));
          await until('it is ready', async () => (await api.request('getReady')).problems.length === 0);
        }
      });

      it('fund needs an amount', async () => {
        const { code, stderr } = await local('local', 'fund', demo.callers[0]!.wallet);
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
        const cluster = await startRpcProxy({ rpcUrl: demo.rpc_url, wsUrl: demo.ws_url });
        cluster.onCall(({ method }) => {
          methods.push(method);
          return { json: { result: { 'feature-set': 1, 'solana-core': '3.1.0' } } };
        });
        const rpc_url = cluster.rpcUrl;
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
        await cluster.close();
      });
    });
  });
}

/** The execution once it has ended. */
const ended = (api: ReturnType<typeof createClient>, executionId: string) =>
  untilFound(`${executionId} has ended`, async () => {
    const record = await api.request('getExecution', { execution_id: executionId });
    return record.completed_at === null ? null : record;
  });
