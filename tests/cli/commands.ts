/**
 * The command line as creators and callers use it on a running local network, with one more agent beside the demo
 * agents; and `local fund` and `local travel`, which work on the local network and nowhere else.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAccount, getMint } from '@solana/spl-token';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { createCreatorServer, generateSigningKey, saveSigningKey } from '../../app/sdk/creator/creator.ts';
import { decodeAccount, findCollateral, findGrant, findTokenAccount } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { listen } from '../harness/edge/listen.ts';
import { until, untilFound } from '../harness/edge/until.ts';
import { startRpcProxy } from '../harness/node/rpcProxy.ts';
import { newDirectory } from '../local/start.ts';
import { AGENT_FILE, runHere } from './run.ts';

/** Declares the tests. `network` is that of `dataDir`; its clock is moved forward. */
export function usesCommands(network: () => DemoFile, dataDir: string): void {
  describe('the command line', () => {
    const workDir = newDirectory();
    const signingKey = generateSigningKey();
    const creatorPath = join(dataDir, 'demo', 'creator-b.json');
    const server = createCreatorServer({ signingKey, execute: ({ task }) => ({ result: task.toUpperCase() }) });
    let demo: DemoFile;
    let connection: Connection;
    let file: Record<string, unknown>;
    let agentId: string;

    const local = (...args: string[]) => runHere(args, { DATA_DIR: dataDir });
    const writeFile = (name: string, change: object = {}): string => {
      const path = join(workDir, name);
      writeFileSync(path, JSON.stringify({ ...file, ...change }));
      return path;
    };
    const usdcAccountOf = async (wallet: string) => {
      const address = findTokenAccount(new PublicKey(wallet), new PublicKey(demo.usdc_mint));
      return getAccount(connection, address, 'confirmed');
    };
    const usdcOf = async (wallet: string) => (await usdcAccountOf(wallet)).amount;
    const delegatedBy = async (wallet: string) => (await usdcAccountOf(wallet)).delegatedAmount;

    before(async () => {
      demo = network();
      connection = new Connection(demo.rpc_url, 'confirmed');
      const url = await listen(server);
      saveSigningKey(join(workDir, 'signing.json'), signingKey);
      const endpoint = `${url}/execute`;
      file = { ...AGENT_FILE, name: 'shouter', tags: ['writing', 'shouting'], price_usdc: 0.2, endpoint };
    });
    after(() => {
      server.close();
      server.closeAllConnections();
    });

    it('refuses to list an agent whose endpoint fails its test, and moves nothing', async () => {
      const creator = demo.agents.find(({ name }) => name === 'text-report')?.creator ?? '';
      const before = await usdcOf(creator);
      const path = writeFile('astray.json', {
        endpoint: String(file.endpoint).replace('/execute', '/elsewhere/execute'),
      });
      const { code, stdout, stderr } = await local('listing', 'create', path, '--keypair', creatorPath);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.include('The endpoint failed its test, so nothing was signed. ');
      expect(await usdcOf(creator)).to.equal(before);
    });

    it('explains that the file needs a test when its schema requires more than the default test sends', async () => {
      const input_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
      const path = writeFile('untested.json', { input_schema });
      const { code, stderr } = await local('listing', 'create', path, '--keypair', creatorPath);
      expect(code).to.equal(1);
      expect(stderr).to.include('The request of the test is wrong, so it was not sent, and nothing was signed. ');
      expect(stderr).to.include('metadata: parameters.n is missing.').and.include('Add `"test": {"task"');
    });

    it('lists an agent: stores, tests, deposits and signs; the agent can then be executed', async () => {
      const creator = demo.agents.find(({ name }) => name === 'text-report')?.creator ?? '';
      const before = await usdcOf(creator);
      const { code, stdout, stderr } = await local(
        ...['listing', 'create', writeFile('shouter.json'), '--keypair', creatorPath, '--json'],
      );
      expect(code, stderr).to.equal(0);
      expect(stderr).to.include('ok     signature').and.include('Collateral for a price of 0.2 USDC: 5 USDC');
      const result = JSON.parse(stdout);
      expect(result).to.include({ creator, price_usdc: '0.2', deposit_usdc: '5' });
      agentId = result.agent_id;
      expect(await usdcOf(creator)).to.equal(before - 5_000_000n);
      const account = await connection.getAccountInfo(findCollateral(new PublicKey(agentId)));
      expect(decodeAccount('CreatorCollateral', account?.data as Buffer).deposited).to.equal(5_000_000n);

      const api = createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]?.api_key ?? '' });
      const answer = await api.request('executeAgent', { agent_id: agentId, body: { task: 'hello' } });
      expect(answer).to.include({ status: 'completed', result: 'HELLO', cost_usdc: 0.2 });
      expect((await api.request('getAgent', { agent_id: agentId })).tags).to.deep.equal(['writing', 'shouting']);
    });

    it('updates, pauses and resumes an agent, for its creator only', async () => {
      const read = async () => {
        const account = await connection.getAccountInfo(new PublicKey(agentId));
        return decodeAccount('AgentListing', account?.data as Buffer);
      };
      const path = writeFile('dearer.json', { price_usdc: '0.3' });
      const updated = await local('listing', 'update', agentId, path, '--keypair', creatorPath);
      expect(updated.code, updated.stderr).to.equal(0);
      expect(await read()).to.include({ price: 300_000n, listingVersion: 2 });

      const stranger = demo.callers[0]?.keypair_path ?? '';
      const refused = await local('listing', 'pause', agentId, '--keypair', stranger);
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.include(`The agent ${agentId} belongs to`);

      expect((await local('listing', 'pause', agentId, '--keypair', creatorPath)).code).to.equal(0);
      expect((await read()).status).to.equal('paused');
      const again = await local('listing', 'pause', agentId, '--keypair', creatorPath);
      expect(again).to.include({ code: 1, stderr: `The agent ${agentId} is already paused.\n` });
      expect((await local('listing', 'resume', agentId, '--keypair', creatorPath)).code).to.equal(0);
      const shown = JSON.parse((await local('listing', 'show', agentId, '--json')).stdout);
      const terms = { status: 'active', price_usdc: '0.3', listing_version: 2, collateral_usdc: '5' };
      expect(shown).to.include({ agent_id: agentId, ...terms });
      expect(shown.tags).to.deep.equal(['writing']);
    });

    it('creates a key that works, lists it, and revokes it in the service and on-chain', async () => {
      const caller = demo.callers[1] as DemoFile['callers'][number];
      const wallet = new PublicKey(caller.wallet);
      const made = await local(
        ...['keys', 'create', '--name', 'laptop', '--keypair', caller.keypair_path, '--per-execution', '0.5', '--json'],
      );
      expect(made.code, made.stderr).to.equal(0);
      expect(made.stderr).to.include(
        "The wallet's allowance stays at 2000 USDC, shared by all keys of this wallet and used up by refunded calls too.",
      );
      const key = JSON.parse(made.stdout);
      expect(await delegatedBy(caller.wallet)).to.equal(2_000_000_000n);
      const readGrant = async () => {
        const account = await connection.getAccountInfo(findGrant(wallet, keyIdOf(key.api_key)));
        return decodeAccount('KeyGrant', account?.data as Buffer);
      };
      expect(await readGrant()).to.include({
        perExecutionMax: 500_000n,
        periodMax: 50_000_000n,
        totalMax: 100_000_000n,
        periodSeconds: 86_400,
        revoked: false,
      });
      const api = createClient({ baseUrl: demo.base_url, apiKey: key.api_key });
      const echo = demo.agents.find(({ name }) => name === 'sandbox-echo')?.agent_id ?? '';
      expect(await api.request('executeAgent', { agent_id: echo, body: { task: 'hi' } })).to.include({
        status: 'completed',
        result: 'hi',
      });

      const listed = await local('keys', 'list', '--keypair', caller.keypair_path, '--json');
      expect(listed.stdout).to.include(key.key_id).and.not.include(key.api_key);

      const revoked = await local('keys', 'revoke', key.key_id, '--keypair', caller.keypair_path);
      expect(revoked.code, revoked.stderr).to.equal(0);
      const refused = await api.request('listExecutions').catch((error) => error);
      expect(refused).to.include({ status: 401, code: 'unauthorized' });
      expect((await readGrant()).revoked).to.equal(true);
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
