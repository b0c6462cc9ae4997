/**
 * A chapter of the journey: the commands of README.md and docs/, pasted as a reader would on a first day. The last one
 * moves the clock by days.
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountLayout } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { useServers } from '../harness/edge/listen.ts';
import { installPython } from '../harness/edge/tools.ts';
import { until } from '../harness/edge/until.ts';
import { freePort } from '../harness/freePort.ts';
import { newDirectory } from '../local/start.ts';
import { pagePaths, ROOT } from './markdown.ts';
import { createTerminal } from './terminal.ts';

export function tellOfPages(network: () => DemoFile, dataDir: string): void {
  describe('the commands of README.md and docs/', function () {
    // Each step depends on the one before it.
    this.bail(true);
    const folder = newDirectory();
    const serve = useServers();
    let demo: DemoFile;
    let terminal: ReturnType<typeof createTerminal>;
    let port: string;
    /** The address in the pages, to be replaced by that of this network. */
    let api: { 'http://127.0.0.1:8787': string };
    let [creator, agentId, executionId] = ['', '', ''];
    /** The reason why Python's packages cannot be installed. */
    let python: string | null = null;

    before(async () => {
      demo = network();
      terminal = createTerminal(folder, dataDir, 'tests/docs/commands.ts');
      port = String(await freePort());
      api = { 'http://127.0.0.1:8787': demo.base_url };
      const file = join(folder, 'examples', 'agent.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace(':8080/', `:${port}/`));
    });
    after(() => terminal?.close());

    const tokensOf = async (wallet: string): Promise<bigint> => {
      const account = findTokenAccount(new PublicKey(wallet), new PublicKey(demo.usdc_mint));
      const info = await new Connection(demo.rpc_url, 'confirmed').getAccountInfo(account);
      return info ? AccountLayout.decode(info.data).amount : 0n;
    };
    /** USDC of the first caller and of the creator, in base units. */
    const held = async () => [await tokensOf(demo.callers[0]!.wallet), await tokensOf(creator)] as const;

    it('docs/callers.md: examples/caller.ts pays for a call', async () => {
      const before = await tokensOf(demo.callers[0]!.wallet);
      expect(await terminal.paste('docs/callers.md')).to.equal('Say hello\n');
      expect(await tokensOf(demo.callers[0]!.wallet)).to.equal(before - 10_000n);
    });

    it('docs/callers.md: examples/x402Caller.ts pays for a call without a key', async () => {
      const before = await tokensOf(demo.callers[1]!.wallet);
      expect(await terminal.paste('docs/callers.md')).to.equal('Say hello\n');
      expect(await tokensOf(demo.callers[1]!.wallet)).to.equal(before - 15_000n);
    });

    it('docs/callers.md: creates a key, and renews the allowance', async () => {
      expect(await terminal.paste('docs/callers.md')).to.match(/crtx_test_\w+/);
      expect(await terminal.paste('docs/callers.md')).to.match(/^allowance_usdc: 1000$/m);
    });

    it('docs/webhooks.md: creates an endpoint with curl, tests it, and sends the event once more', async () => {
      const ids: unknown[] = [];
      const receiver = await serve((request, response) => {
        ids.push(request.headers['webhook-id']);
        response.end();
      });
      await terminal.paste('docs/webhooks.md');
      const url = `${receiver}/hook`;
      await terminal.paste('docs/webhooks.md', { 'https://example.com/hook': url });
      await until('the test arrives', () => ids.length === 1);
      const output = await terminal.paste('docs/webhooks.md');
      const { event_id } = JSON.parse(output);
      await until('the event arrives once more', () => ids.length === 2);
      expect(ids).to.deep.equal([event_id, event_id]);
    });

    it('docs/creators.md: creates two key files', async () => {
      const output = await terminal.paste('docs/creators.md');
      const [, address] = output.match(/[1-9A-HJ-NP-Za-km-z]{43,44}/g) ?? [];
      creator = address!;
    });

    it('docs/creators.md: examples/creator.ts is listed by examples/agent.json', async () => {
      await terminal.paste('docs/creators.md', { ...api, ADDRESS: creator, 8080: port });
      const health = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok);
      await until('examples/creator.ts listens', () => health().catch(() => false));
      const output = await terminal.paste('docs/creators.md');
      const paged = async () =>
        (await fetch(`${demo.base_url}/v1/agents?tags=word-count`)).json() as Promise<AgentPage>;
      const { agents } = await paged();
      expect(agents).to.have.length(1);
      agentId = agents[0]!.agent_id;
      expect(output).to.include(agentId);
    });

    it('docs/creators.md: the new agent is called by examples/caller.ts, and paid', async () => {
      const [caller, earned] = await held();
      const output = await terminal.paste('docs/creators.md', { ...api, AGENT_ID: agentId });
      expect(JSON.parse(output).words.slice(0, 2)).to.deep.equal([
        { word: 'to', count: 2 },
        { word: 'be', count: 2 },
      ]);
      expect(await held()).to.deep.equal([caller - 50_000n, earned + 49_500n]);
    });

    it('docs/creators.md: a failed call is refunded, and examples/caller.ts prints the reason', async () => {
      const before = await held();
      const output = await terminal.type(`! npx tsx examples/caller.ts ${agentId} x '{"text": "!?"}' 2>&1`);
      expect(output).to.include('the text has no words');
      expect(await held()).to.deep.equal(before);
    });

    it('docs/disputes.md: the call is disputed, and the creator’s collateral pays', async () => {
      const headers = { authorization: `Bearer ${demo.callers[0]!.api_key}` };
      const path = `${demo.base_url}/v1/executions?agent_id=${agentId}&status=completed`;
      const { executions } = (await (await fetch(path, { headers })).json()) as ExecutionPage;
      executionId = executions[0]!.execution_id;
      const before = await tokensOf(demo.callers[0]!.wallet);
      await terminal.paste('docs/disputes.md', { EXECUTION_ID: executionId });
      await terminal.paste('docs/disputes.md', { EXECUTION_ID: executionId });
      // The command claims 0.1 USDC, but an award is at most the price.
      expect(await tokensOf(demo.callers[0]!.wallet)).to.equal(before + 50_000n);
    });

    it('docs/creators.md: examples/creator.py replaces examples/creator.ts', async function () {
      // A folder other than that of tests/cli/examples.test.ts, which can install at the same time.
      const tools = await installPython('examples-docs', join(ROOT, 'examples', 'requirements.txt'));
      python = tools.obstacle;
      if (python !== null && process.env.CI) throw new Error(python);
      if (python !== null) {
        console.log(`      skipped: ${python}`);
        this.skip();
      }
      // If pip finds everything installed, it makes no request.
      symlinkSync(tools.folder, join(dataDir, 'python'));
      const other = String(await freePort());
      await terminal.paste('docs/creators.md', { ...api, 8080: other });
      const unsigned = () =>
        fetch(`http://127.0.0.1:${other}/execute`, { method: 'POST', body: '{}' }).then(({ status }) => status);
      await until('examples/creator.py refuses what is not signed', () =>
        unsigned().then(
          (status) => status === 401,
          () => false,
        ),
      );
    });

    it('README.md: local fund adds USDC, and local travel moves the clock', async () => {
      const before = await tokensOf(creator);
      await terminal.paste('README.md', { WALLET: creator });
      expect(await tokensOf(creator)).to.equal(before + 100_000_000n);
    });

    it('leave no block that is marked as run by this test unrun', () => {
      expect(terminal.left(pagePaths())).to.have.length(python === null ? 0 : 1);
    });
  });
}

interface AgentPage {
  agents: { agent_id: string }[];
}

interface ExecutionPage {
  executions: { execution_id: string }[];
}
