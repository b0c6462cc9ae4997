/**
 * Runs the packed client on Deno, Bun and workerd (the runtime of Cloudflare Workers), which all serve one program.
 * Also runs it in a page in Chromium, without a key.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { snippetsOf } from '../../app/dashboard/views/agent/snippets.ts';
import { AgentMarketplace } from '../../app/sdk/client/caller.ts';
import { renderEvent } from '../../app/sdk/wire/eventStream.ts';
import { launchBrowser, requireChromium } from '../dashboard/browser.ts';
import { useServers } from '../harness/edge/listen.ts';
import { installNode, run } from '../harness/edge/tools.ts';
import { until } from '../harness/edge/until.ts';
import { freePort } from '../harness/freePort.ts';
import { failedAnswer, goodAnswer, type TestMarketplace } from '../harness/node/marketplace.ts';
import quotes from './quotes.json' with { type: 'json' };

const SOURCE = join(import.meta.dirname, 'runtimes');
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

interface Runtime {
  /** The executable's path in the npm packages of each system. */
  files: string[];
  /** Arguments that serve program.mjs on this port. */
  serve(port: number): string[];
  /** Arguments that run a program of the README to its end; null if the runtime can only serve. */
  script: string[] | null;
}

const RUNTIMES: Record<string, Runtime> = {
  Deno: {
    files: ['linux-x64-glibc', 'linux-arm64-glibc', 'darwin-x64', 'darwin-arm64'].map((on) => `@deno/${on}/deno`),
    serve: (port) => ['serve', '--allow-net', '--host', '127.0.0.1', '--port', String(port), 'program.mjs'],
    script: ['run', '--allow-net', '--allow-env'],
  },
  Bun: {
    files: ['linux-x64-baseline', 'linux-aarch64', 'darwin-x64', 'darwin-aarch64'].map(
      (on) => `@oven/bun-${on}/bin/bun`,
    ),
    serve: () => ['program.mjs'],
    script: [],
  },
  workerd: {
    files: ['linux-64', 'linux-arm64', 'darwin-64', 'darwin-arm64'].map(
      (on) => `@cloudflare/workerd-${on}/bin/workerd`,
    ),
    serve: (port) => ['serve', 'workerd.capnp', `--socket-addr=http=127.0.0.1:${port}`],
    script: null,
  },
};

/** Declares the tests. `folder` has the package installed, and contains the README's first program. */
export function runsElsewhere(folder: string, scene: () => { market: TestMarketplace; env: NodeJS.ProcessEnv }): void {
  describe('runtimes other than Node', () => {
    const serve = useServers();
    let tools: Awaited<ReturnType<typeof installNode>>;
    let lossyUrl: string;
    let silentUrl: string;
    /** Faults to inject into the next answers, by HTTP method. */
    const faults: Record<string, string[]> = {};

    before(async () => {
      tools = await installNode('client-runtimes', SOURCE);
      for (const name of ['program.mjs', 'workerd.capnp']) copyFileSync(join(SOURCE, name), join(folder, name));
      // Bundles as wrangler does.
      await build({
        ...{ absWorkingDir: folder, entryPoints: ['program.mjs'], outfile: join(folder, 'worker.mjs') },
        ...{ bundle: true, format: 'esm', conditions: ['workerd', 'worker', 'browser'], external: ['@x402/*'] },
      });
      silentUrl = await serve(() => {});
      lossyUrl = await serve((incoming, outgoing) => {
        const { method, headers, url } = incoming;
        const forwarded = send(new URL(url!, scene().market.relay.url), { method, headers }, (answer) => {
          const fault = faults[method!]?.shift();
          if (fault === 'lost') return void answer.resume().once('end', () => outgoing.destroy());
          outgoing.writeHead(answer.statusCode!, answer.headers);
          if (!fault) return void answer.pipe(outgoing);
          // Sends the first part of the stream, then breaks the connection or stays silent.
          answer.once('data', (part) => outgoing.write(part, () => fault === 'broken' && outgoing.destroy()));
        });
        outgoing.once('close', () => forwarded.destroy());
        incoming.pipe(forwarded);
      });
    });
    afterEach(() => scene().market.setBehaviour(null));

    /** The runtime's executable. If it is missing, skips the test, or fails it in continuous integration. */
    function fileOf(name: string, context: Mocha.Context): string {
      const files = RUNTIMES[name]!.files.map((file) => join(tools.folder, 'node_modules', file));
      const file = files.find(existsSync);
      if (tools.obstacle === null && file) return file;
      const why = tools.obstacle ?? `npm brought no ${name} for this system. To try again, delete ${tools.folder}`;
      if (process.env.CI) throw new Error(why);
      console.log(`      skipped: ${why}`);
      return context.skip();
    }

    async function answerOf(name: string, file: string, question: object): Promise<unknown> {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/`;
      const env = { PATH: process.env.PATH, HOME: folder, BUN_PORT: String(port), NO_COLOR: '1' };
      const child: ChildProcess = spawn(file, RUNTIMES[name]!.serve(port), { cwd: folder, env });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
      try {
        await until(`${name} serves`, async () => {
          if (child.exitCode !== null) throw new Error(output);
          return (await fetch(url).catch(() => null))?.ok === true;
        });
        const response = await fetch(url, { method: 'POST', body: JSON.stringify(question) });
        const text = await response.text();
        expect(response.status, `${text}\n${output}`).to.equal(200);
        return JSON.parse(text);
      } finally {
        child.kill('SIGKILL');
      }
    }

    it('have the versions that README names', () => {
      const { optionalDependencies } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'));
      const versionOf = (name: string) => optionalDependencies[name].split('.', 2).join('.');
      const named = `| Deno ${versionOf('@deno/linux-x64-glibc')}, Bun ${versionOf('@oven/bun-linux-x64-baseline')} `;
      expect(
        readFileSync(join(folder, 'node_modules', '@agent-marketplace', 'client', 'README.md'), 'utf8'),
      ).to.include(named);
    });

    for (const [name, { script }] of Object.entries(RUNTIMES)) {
      it(`lists, pays, verifies, survives lost connections and checks webhooks on ${name}`, async function () {
        const file = fileOf(name, this);
        const { market, env } = scene();
        market.setBehaviour(({ execution_id, task }, response, reply) => {
          const answer = goodAnswer(market.signingKey, execution_id, `done: ${task}`);
          if (task === 'fail') return reply(failedAnswer(execution_id));
          if (task !== 'runtime') return reply(answer);
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(renderEvent('delta', '{"text": "done: "}'));
          response.write(renderEvent('delta', '{"text": "runtime"}'));
          response.end(renderEvent('result', JSON.stringify(answer)));
        });
        Object.assign(faults, { POST: ['lost'], GET: ['broken', 'silent'] });
        const { agent_id: agentId, max_cost_usdc: maxCostUsdc, ...rest } = quotes.purchase;
        const body = JSON.stringify({ type: 'webhook.test', timestamp: '2026-01-31T12:00:00.000Z', data: {} });
        const now = new Date();
        const headers = {
          'webhook-id': 'evt_7',
          'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
          'webhook-signature': new Webhook(SECRET).sign('evt_7', now, body),
        };
        const before = (await market.balances()).callers[0]!;
        const report = await answerOf(name, file, {
          ...{ baseUrl: env.MARKETPLACE_URL, apiKey: env.MARKETPLACE_API_KEY, rpcUrl: env.RPC_URL },
          ...{ lossyUrl, silentUrl, closedUrl: `http://127.0.0.1:${await freePort()}` },
          ...{ webhook: { body, headers, secret: SECRET }, purchase: { ...rest, agentId, maxCostUsdc } },
          quote: quotes.quote,
        });
        expect(report).to.deep.equal({
          listed: ['test-agent'],
          paid: ['done: runtime', 0.05, 'done: runtime'],
          verified: [true, []],
          failed: [true, true, true],
          lost: 'done: lost',
          resumed: ['pending', 'running', 'completed'].map((state) => `execution.${state}`),
          closed: ['APIConnectionError', 'connection_failed'],
          late: ['APITimeoutError', 'timeout'],
          over: ['WaitTimeoutError', 'wait_timeout'],
          aborted: true,
          webhook: ['evt_7', 'webhook.test'],
          forged: true,
          payer: quotes.purchase.payer,
          deposit: quotes.checked.deposit,
        });
        expect(faults).to.deep.equal({ POST: [], GET: [] });
        // Two calls of 0.05 USDC each. The failed call was refunded.
        expect(before - (await market.balances()).callers[0]!).to.equal(100_000n);
      });

      if (script === null) continue;
      it(`runs README's first call and the page's call as code on ${name} as they are written`, async function () {
        const file = fileOf(name, this);
        const { market, env } = scene();
        const input = { task: 'page', parameters: {}, priceUsdc: 0.05 };
        const call = { ...input, baseUrl: market.relay.url, agentId: market.agentId };
        writeFileSync(join(folder, 'call.mts'), snippetsOf(call).find((snippet) => snippet.file === 'call.mts')!.text);
        const own = { ...env, HOME: folder, NO_COLOR: '1' };
        for (const [program, said] of Object.entries({ 'first.ts': 'Say hello cost 0.05 USDC', 'call.mts': 'page' })) {
          const { code, output, stdout } = await run(file, [...script, program], { cwd: folder, env: own });
          expect(code, output).to.equal(0);
          expect(stdout).to.equal(`done: ${said}\n`);
        }
      });
    }

    it('lists agents and checks a receipt in a page in Chromium that another server sent', async function () {
      if (!requireChromium()) this.skip();
      const { env } = scene();
      const { MARKETPLACE_URL: baseUrl, MARKETPLACE_API_KEY: apiKey, RPC_URL: rpcUrl } = env;
      const { agents, executions } = new AgentMarketplace({ baseUrl, apiKey });
      const { items } = await agents.list().page();
      const { execution_id } = await agents.run(items[0]!.agent_id, { task: 'page' });
      const receipt = await executions.receipt(execution_id);
      const { outputFiles } = await build({
        ...{ absWorkingDir: folder, entryPoints: ['entry.mjs'], write: false },
        ...{ bundle: true, format: 'iife', globalName: 'client' },
      });
      const browser = await launchBrowser();
      try {
        const page = await browser.newPage();
        await page.goto(await serve((_, response) => response.end('<!doctype html><title>Page</title>')));
        await page.addScriptTag({ content: outputFiles[0]!.text });
        const found = await page.evaluate(`(async () => {
          const { agents } = new client.AgentMarketplace({ baseUrl: ${JSON.stringify(baseUrl)} });
          const names = [];
          for await (const { name } of agents.list()) names.push(name);
          const checks = await client.verifyReceipt(${JSON.stringify(receipt)}, { rpcUrl: ${JSON.stringify(rpcUrl)} });
          return [names, client.isProven(checks)];
        })()`);
        expect(found).to.deep.equal([['test-agent'], true]);
      } finally {
        await browser.close();
      }
    });
  });
}
