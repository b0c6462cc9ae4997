/** Chapters of the journey: what `npm start` prints and writes, a second start, a kill and Ctrl-C. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { readConfig } from '../../app/local/config.ts';
import { demoAgents } from '../../app/local/creators/definitions.ts';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { requireFreePort } from '../../app/local/service.ts';
import { loadSigningKey } from '../../app/sdk/creator/signingKey.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { newDirectory, type Start, startNetwork, untilGone } from '../local/start.ts';

/** Runs a command as if pasted into a shell, in an unrelated directory. */
const paste = (command: string): string => execFileSync('sh', ['-c', command], { cwd: '/', encoding: 'utf8' });

const commandsOf = (start: Start): string[] => start.output().match(/(?<=^ {2})curl .*$/gm) ?? [];

/** Before the first call. */
export function tellOfStart(first: () => Start, network: () => DemoFile, dataDir: string): void {
  describe('npm start', () => {
    let demo: DemoFile;
    before(() => {
      demo = network();
    });

    it('writes demo.json with every field, readable by its owner only', () => {
      expect(statSync(join(dataDir, 'demo.json')).mode & 0o777).to.equal(0o600);
      const places = 'base_url rpc_url ws_url program_id usdc_mint treasury relay_authorities database_url';
      expect(Object.keys(demo)).to.have.ordered.members([...places.split(' '), 'agents', 'callers']);
      expect(demo.base_url).to.match(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
      expect(demo.program_id).to.equal(PROGRAM_ID.toBase58());
      expect(demo.agents.map(({ name }) => name)).to.have.members(demoAgents.map(({ name }) => name));
      for (const agent of demo.agents) {
        expect(Object.keys(agent)).to.have.ordered.members(['name', 'agent_id', 'creator', 'signing_key']);
        for (const address of [agent.agent_id, agent.creator, agent.signing_key]) new PublicKey(address);
      }
      expect(new Set(demo.agents.map(({ creator }) => creator)).size).to.equal(2);
      expect(demo.callers).to.have.length(2);
      for (const caller of demo.callers) {
        expect(Object.keys(caller)).to.have.ordered.members(['wallet', 'keypair_path', 'api_key']);
        expect(isAbsolute(caller.keypair_path)).to.equal(true);
        const wallet = new PublicKey(loadSigningKey(caller.keypair_path).subarray(32));
        expect(wallet.toBase58()).to.equal(caller.wallet);
      }
    });

    it('keeps keys and keypairs readable by their owner only', () => {
      const directory = join(dataDir, 'demo');
      expect(statSync(directory).mode & 0o777).to.equal(0o700);
      const files = readdirSync(directory).filter((name) => statSync(join(directory, name)).isFile());
      expect(files).to.include.members(['admin.json', 'relay-authority.json', 'caller-1.json', 'caller-1.api-key']);
      for (const name of files) expect(statSync(join(directory, name)).mode & 0o777, name).to.equal(0o600);
    });

    it('shows all agents but one as active, and those of one creator as verified', async () => {
      const page = (await (await fetch(`${demo.base_url}/v1/agents?limit=100`)).json()) as {
        agents: { agent_id: string; name: string; creator: { pubkey: string; verified: boolean } }[];
      };
      const active = demo.agents.filter(({ name }) => name !== 'sandbox-paused');
      expect(page.agents.map(({ agent_id }) => agent_id)).to.have.members(active.map(({ agent_id }) => agent_id));
      const verified = page.agents.filter(({ creator }) => creator.verified);
      expect(new Set(verified.map(({ creator }) => creator.pubkey)).size).to.equal(1);
      const paused = demo.agents.find(({ name }) => name === 'sandbox-paused');
      const answer = await fetch(`${demo.base_url}/v1/agents/${paused?.agent_id}`);
      expect(((await answer.json()) as { status: string }).status).to.equal('paused');
    });

    it('executes nothing at the start, and each caller holds 1,000 USDC', async () => {
      for (const { api_key, wallet } of demo.callers) {
        const headers = { authorization: `Bearer ${api_key}` };
        const page = (await (await fetch(`${demo.base_url}/v1/executions`, { headers })).json()) as { total: number };
        expect(page.total).to.equal(0);
        const body = { jsonrpc: '2.0', id: 1, method: 'getTokenAccountsByOwner' };
        const params = [wallet, { mint: demo.usdc_mint }, { encoding: 'jsonParsed', commitment: 'confirmed' }];
        const request = { method: 'POST', headers: { 'content-type': 'application/json' } };
        const answer = await fetch(demo.rpc_url, { ...request, body: JSON.stringify({ ...body, params }) });
        const { result } = (await answer.json()) as {
          result: { value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[] };
        };
        const amounts = result.value.map(({ account }) => account.data.parsed.info.tokenAmount.amount);
        expect(amounts).to.deep.equal(['1000000000']);
      }
    });

    it('prints a curl command to execute an agent, one to read the record, and all agents with prices', () => {
      const [execute = '', read = ''] = commandsOf(first());
      expect(first().output()).to.include(`${demo.base_url}/docs\n`);
      const answer = JSON.parse(paste(execute));
      expect(answer.status, JSON.stringify(answer)).to.equal('completed');
      expect(answer.result_hash).to.equal(`sha256:${createHash('sha256').update(answer.result).digest('hex')}`);
      expect(JSON.parse(answer.result).rows).to.have.length(5);
      const record = JSON.parse(paste(read));
      expect(record.execution_id).to.equal(answer.execution_id);
      expect(record.result).to.equal(answer.result);
      expect(record.creator_amount_usdc + record.platform_amount_usdc).to.equal(0.25);
      expect(paste(`curl -s '${record.ipfs_url}' | sha256sum`)).to.equal(`${answer.result_hash.slice(7)}  -\n`);
      for (const { name, price } of demoAgents) {
        expect(first().output()).to.match(new RegExp(`^  ${name} +${price.replace('.', '\\.')} USDC `, 'm'));
      }
    });
  });
}

/** The end of the network. */
export function tellOfRestart(first: () => Start, network: () => DemoFile, dataDir: string): void {
  describe('another start', () => {
    it('refuses a second start on the same directory, and names the process that uses it', async () => {
      const second = startNetwork(dataDir);
      expect(await second.exited).to.equal(1);
      const pid = readFileSync(join(dataDir, 'lock.pid'), 'utf8').trim();
      expect(second.output()).to.include(`${dataDir} is in use by another \`npm start\` (process ${pid})`);
      expect(existsSync(join(dataDir, 'demo.json'))).to.equal(true);
    });

    it('refuses a port in use, and names a variable that is wrong', async () => {
      const port = new URL(network().base_url).port;
      const refusal = await requireFreePort(Number(port)).catch((error) => error);
      expect(refusal).to.be.instanceOf(Refusal);
      expect(refusal.message).to.include(`Port ${port} is in use by another program`);
      expect(() => readConfig({ PORT: '99999' }, {})).to.throw(
        Refusal,
        'PORT must be a number from 0 to 65535, not 99999',
      );
    });

    it('leaves no process after a kill, and restarts at once with the same keys on a fresh chain', async () => {
      process.kill(Number(readFileSync(join(dataDir, 'lock.pid'), 'utf8')), 'SIGKILL');
      const again = startNetwork(dataDir);
      await untilGone(first());
      const after = await again.ready;
      const demo = network();
      expect(after.agents).to.deep.equal(demo.agents);
      expect(after.callers).to.deep.equal(demo.callers);
      expect(after.usdc_mint).to.equal(demo.usdc_mint);
      const [old = ''] = readdirSync(dataDir).filter((name) => name.startsWith('old-'));
      expect(again.output()).to.include(`This is a fresh chain`).and.include(join(dataDir, old));
      expect(readdirSync(join(dataDir, old))).to.include.members(['ledger.db', 'index.db', 'chain.json']);

      again.signalGroup('SIGINT');
      await untilGone(again);
      expect(await again.exited).to.equal(0);
      expect(existsSync(join(dataDir, 'demo.json'))).to.equal(false);
    });

    it('stops when npm is killed, also during the start', async () => {
      const start = startNetwork(newDirectory(), { command: 'npm' });
      while (!start.output().includes('Creating the marketplace')) await delay(10);
      start.child.kill('SIGKILL');
      await untilGone(start);
    });
  });
}
