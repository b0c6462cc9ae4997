/**
 * A newcomer follows docs/agents.md in an empty folder, with the packed package and independent hosts: the official
 * client, and hosts in Python.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { readKeypair } from '../../app/cli/wallet.ts';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { blocksOf } from '../docs/markdown.ts';
import { createTerminal } from '../docs/terminal.ts';
import { type Finished, installPython, run } from '../harness/edge/tools.ts';
import { pack } from '../harness/pack.ts';
import { cleanUp, newDirectory, startNetwork } from '../local/start.ts';
import { type Host, newHost } from './hosts.ts';
import { startOAuthHost } from './oauth.ts';
import { approve } from './person.ts';

const PAGE = 'docs/agents.md';
/** Longer than one tool call waits, by more than a busy machine is late. */
const SLOW_SECONDS = 45;

interface ServerEntry {
  url?: string;
  headers?: Record<string, string>;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
}

describe('docs/agents.md', function () {
  // Each step depends on the one before it.
  this.bail(true);
  const [dataDir, folder, empty] = [newDirectory(), newDirectory(), newDirectory()];
  let demo: DemoFile;
  let terminal: ReturnType<typeof createTerminal>;
  let key = '';
  let packed: string[] = [];
  const agentId = (name: string) => demo.agents.find((agent) => agent.name === name)!.agent_id;

  before(async () => {
    demo = await startNetwork(dataDir).ready;
    terminal = createTerminal(folder, dataDir, 'tests/mcp/hosts.test.ts');
    const { filename, files } = await pack('app/mcp', empty);
    packed = files.map(({ path }) => path);
    writeFileSync(join(empty, 'package.json'), '{"private": true}');
    const installed = await run('npm', ['install', '--offline', '--no-audit', '--no-fund', filename], { cwd: empty });
    expect(installed.code, installed.output).to.equal(0);
  });
  after(() => {
    terminal?.close();
    cleanUp();
  });

  it('the package contains the server with all it needs, README and licence, and depends on nothing', async () => {
    for (const path of packed)
      expect(path).to.match(/^(dist\/[\w-]+\.js(\.LEGAL\.txt)?|README\.md|LICENSE|package\.json)$/);
    const root = join(empty, 'node_modules', '@agent-marketplace', 'mcp');
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(dependencies).to.equal(undefined);
    const help = await run('npx', ['@agent-marketplace/mcp', '--help'], { cwd: empty });
    expect(help.code, help.output).to.equal(0);
    expect(help.output).to.include('--budget USDC');
    const env = { PATH: process.env.PATH, HOME: empty };
    const bin = join(root, '..', '..', '.bin', 'agent-marketplace-mcp');
    const bare = (...args: string[]) => run(bin, args, { cwd: empty, env });
    const nameless = await bare();
    expect(nameless.code).to.equal(2);
    expect(nameless.output).to.include('agent-marketplace-mcp: The marketplace is missing. Give --base-url URL,');
    expect((await bare('--base-url', demo.base_url)).output).to.include('Set MARKETPLACE_API_KEY');
    const wallet = ['--base-url', demo.base_url, '--keypair', 'wallet.json', '--budget', '1'];
    expect((await bare(...wallet, '--usdc-mint', 'USDC')).output).to.include('--usdc-mint: USDC is not an address');
    expect((await bare('--budgte', '1')).output).to.match(/Unknown option '--budgte'[\s\S]*Usage:/);
  });

  it('a key with a budget is created', async () => {
    key = /crtx_test_\w+/.exec(await terminal.paste(PAGE))![0];
    const budget = await fetch(`${demo.base_url}/v1/key`, { headers: { authorization: `Bearer ${key}` } });
    expect(await budget.json()).to.include({ per_execution_max_usdc: 1, period_remaining_usdc: 5, total_max_usdc: 20 });
  });

  /** The entries of the page's configurations, with this network's address and the key. */
  const entries = (): ServerEntry[] =>
    blocksOf(PAGE)
      .filter(({ language }) => language === 'json')
      .map(({ text }) => {
        const filled = text.replaceAll('http://127.0.0.1:8787', demo.base_url).replaceAll('crtx_test_...', key);
        return JSON.parse(filled).mcpServers['agent-marketplace'];
      });

  /** Follows step 3 of the page. */
  async function buy(host: Host): Promise<void> {
    const { agents } = await host.call('search_agents', { query: 'echo' });
    const about = await host.call('describe_agent', { agent_id: agents[0].agent_id });
    const bought = { agent_id: about.agent_id, task: 'hello', max_cost_usdc: 0.02 };
    const ran = await host.call('run_agent', bought);
    expect(ran).to.include({ status: 'completed', result: 'hello', cost_usdc: 0.01 });
    expect(await host.call('verify_execution', { execution_id: ran.execution_id })).to.include({ valid: true });
    await host.close();
  }

  it('a host that signs in buys a call', async () => {
    const host = await startOAuthHost(entries()[0]!.url!);
    const address = await host.refused();
    const answer = host.answer();
    const apiKey = await approve(address.href, readKeypair(demo.callers[1]!.keypair_path, 'the keypair'));
    await host.finish(await answer);
    expect(host.tokens()).to.include({ access_token: apiKey, scope: 'execute read' });
    await buy(await host.connect());
    host.stop();
  });

  it('a host that connects by address and key buys a call', async () => {
    const { url, headers } = entries()[1]!;
    const host = newHost({});
    const transport = new StreamableHTTPClientTransport(new URL(url!), { requestInit: { headers: headers! } });
    await host.client.connect(transport);
    await buy(host);
  });

  it('a host that starts a process buys calls within the budget of the session', async () => {
    const { command, args, env } = entries()[2]!;
    const host = newHost({ era: 'legacy' });
    const environment = { PATH: process.env.PATH ?? '', HOME: empty, ...env };
    await host.client.connect(
      new StdioClientTransport({ command: command!, args: args!, env: environment, cwd: empty, stderr: 'pipe' }),
    );
    expect(await host.call('get_budget')).to.include({ session_remaining_usdc: 5, payable_usdc: 1 });
    await buy(host);
  });

  describe('in Python', () => {
    let [host, hostWithOAuth]: Finished[] = [];

    before(async () => {
      const tools = await installPython('mcp-python', join(import.meta.dirname, 'requirements.txt'));
      expect(tools.obstacle).to.equal(null);
      const python = join(tools.folder, 'bin', 'python');
      const words = [
        `${demo.base_url}/mcp`,
        key,
        agentId('sandbox-echo'),
        agentId('sandbox-slow'),
        String(SLOW_SECONDS),
      ];
      // Together, because both wait for the slow agent most of the time.
      [host, hostWithOAuth] = await Promise.all([
        run(python, [join(import.meta.dirname, 'host.py'), ...words]),
        signIn(python),
      ]);
    });

    /** Starts the host, and does the person's part when it opens the page. */
    async function signIn(python: string): Promise<Finished> {
      const words = [entries()[0]!.url!, agentId('sandbox-slow'), String(SLOW_SECONDS)];
      const args = [join(import.meta.dirname, 'oauth.py'), ...words];
      let refusal: unknown;
      const stop = new AbortController();
      const finished = await run(python, args, {
        signal: stop.signal,
        onLine(line) {
          const { open } = JSON.parse(line);
          if (!open) return;
          approve(open, readKeypair(demo.callers[1]!.keypair_path, 'the keypair')).catch((error) => {
            refusal = error;
            stop.abort();
          });
        },
      });
      if (refusal) throw refusal;
      return finished;
    }

    it('a host signs in by OAuth, and gets the result of a long call with one answer, by tasks', () => {
      const { code, output, stdout } = hostWithOAuth!;
      expect(code, output).to.equal(0);
      const [, bought] = stdout.trim().split('\n');
      // The host polls only a task: without one, the answer of this call would have no result yet.
      expect(JSON.parse(bought!)).to.include({ status: 'completed', result: 'slow', cost_usdc: 0.02 });
    });

    it('a host buys, is refused, and waits for a call that takes longer than one answer', () => {
      const { code, output } = host!;
      expect(code, output).to.equal(0);
      const [tools, found, ran, verified, dear, long, ...waited] = output
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line).value);
      expect(tools).to.include('wait_for_execution');
      expect(found.agents[0].agent_id).to.equal(agentId('sandbox-echo'));
      expect(ran).to.include({ status: 'completed', result: 'Hello from Python', cost_usdc: 0.01 });
      expect(verified.valid).to.equal(true);
      expect(dear.error).to.include('Nothing was charged');
      expect(long).to.include({ status: 'running', next: 'Call wait_for_execution with this execution_id.' });
      expect(waited.at(-1)).to.include({ status: 'completed', execution_id: long.execution_id, result: 'slow' });
    });
  });
});
