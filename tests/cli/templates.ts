/**
 * The folders of `creator new`, used outside this project with the package as it would be published. Each is installed,
 * passes its tests, is started, tested, listed and paid on a real marketplace.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findTreasury } from '../../app/sdk/program/program.ts';
import { CONFORMANCE_NAMES } from '../../app/sdk/wire/conformance.ts';
import { type Finished, installInto, makeEnvironment, run } from '../harness/edge/tools.ts';
import { TIMED, undisturbed } from '../harness/edge/undisturbed.ts';
import { until } from '../harness/edge/until.ts';
import { useFolder } from '../harness/folder.ts';
import { freePort } from '../harness/freePort.ts';
import type { TestMarketplace } from '../harness/node/marketplace.ts';
import { pack } from '../harness/pack.ts';
import { ROOT } from '../local/start.ts';
import { runHere, testUndisturbed, useTerminal } from './run.ts';

const exec = promisify(execFile);
/** The price in agent.json and the marketplace's fee, in base units. */
const PRICE = 50_000n;
const FEE = 500n;
const TASK = { task: 'Which words are frequent?', parameters: { text: 'To be, or not to be' } };
const PYTHON_PACKAGE = join(ROOT, 'clients', 'python');
/** TypeScript 7, which takes a third of the time. tests/sdk/package.test.ts checks the types with 5.9. */
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

interface Template {
  lang: 'ts' | 'python';
  /** Installs the folder with the package of this repository. */
  install(folder: string, packages: string): Promise<unknown>;
  test(folder: string): Promise<Finished>;
  start(port: number): [command: string, ...words: string[]];
}

const TEMPLATES: Template[] = [
  {
    lang: 'ts',
    async install(folder, packages) {
      const { filename } = await pack('app/sdk', packages);
      const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
      await exec('npm', ['install', ...quiet, join(packages, filename), '@types/node@20'], { cwd: folder });
      // The template also type-checks against the package's types.
      const options = '--strict --noEmit --skipLibCheck --types node --target es2023 --module nodenext'.split(' ');
      const files = ['agent.ts', 'server.ts', 'agent.test.ts'];
      await exec(process.execPath, [TSC, ...options, '--allowImportingTsExtensions', ...files], { cwd: folder });
    },
    test: (folder) => run('npm', ['test'], { cwd: folder }),
    start: () => ['npm', 'start'],
  },
  {
    lang: 'python',
    async install(folder) {
      const venv = join(folder, '.venv');
      for (const step of [
        () => makeEnvironment(venv),
        () => installInto(venv, [`${PYTHON_PACKAGE}[creator]`, `${folder}[test]`]),
      ]) {
        const { code, output } = await step();
        expect(code, output).to.equal(0);
      }
    },
    test: (folder) => run(join(folder, '.venv', 'bin', 'pytest'), ['--quiet'], { cwd: folder }),
    start: (port) => [join('.venv', 'bin', 'uvicorn'), 'server:app', '--port', String(port), '--log-level', 'warning'],
  },
];

export function installsTemplates(market: TestMarketplace): void {
  describe('templates of a creator', () => {
    const terminal = useTerminal(() => market.node.rpcUrl);
    const [packages, made] = [useFolder('packages'), useFolder('template')];
    let running: ChildProcess | null = null;

    after(() => stop());

    /** Starts a folder's server as its README says. Its process group ends with `stop`. */
    function start(folder: string, template: Template, marketplace: string, port: number): void {
      const [command, ...words] = template.start(port);
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, MARKETPLACE_URL: marketplace, PORT: String(port) };
      running = spawn(command, words, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'], detached: true });
    }
    async function stop(): Promise<void> {
      if (!running?.pid) return;
      const gone = once(running, 'exit');
      process.kill(-running.pid, 'SIGKILL');
      await gone;
      running = null;
    }

    for (const template of TEMPLATES) {
      const { lang, install, test } = template;
      // The Python package is installed from the repository, like the npm package.
      it(`${lang}: is installed, passes its tests, is tested, listed and paid`, async () => {
        const folder = join(made, `words-${lang}`);
        expect((await runHere(['creator', 'new', folder, '--lang', lang])).code).to.equal(0);
        await install(folder, packages);
        // In TypeScript it includes the conformance test, and shows the findings that failed.
        const { code, output } = await undisturbed(async () => {
          const ran = await test(folder);
          return { ...ran, failed: TIMED.filter((name) => ran.code !== 0 && ran.output.includes(`name: '${name}'`)) };
        });
        expect(code, output).to.equal(0);

        const port = await freePort();
        const url = `http://127.0.0.1:${port}/execute`;
        const path = join(folder, 'agent.json');
        const listing = JSON.parse(readFileSync(path, 'utf8'));
        writeFileSync(path, JSON.stringify({ ...listing, endpoint: url }));
        // Also with a slash at its end.
        start(folder, template, `${market.relay.url}/`, port);
        await waitFor(port);
        const service = ['--base-url', market.relay.url];
        const words = ['creator', 'test', url, '--listing', path, '--through-marketplace', ...service];
        const judged = await testUndisturbed(() => terminal.run(market.creator, words));
        expect(judged.code, judged.stderr).to.equal(0);
        const passed = { ok: true, passed: CONFORMANCE_NAMES.length, failed: [] };
        expect(JSON.parse(judged.stdout)).to.deep.include(passed);

        const { agent_id } = await terminal.done(market.creator, 'listing', 'create', path, ...service);
        const held = async () => ({
          caller: await market.amountOf(market.callers[0]!.usdc),
          creator: await market.amountOf(market.creatorUsdc),
          treasury: await market.amountOf(findTreasury()),
        });
        const before = await held();
        const { apiKey } = market.callers[0]!;
        const answer = await market.execute(market.relay.url, TASK, { agent: agent_id, apiKey });
        expect(answer.body, JSON.stringify(answer.body)).to.include({ status: 'completed', cost_usdc: 0.05 });
        expect(JSON.parse(answer.body.result).words.slice(0, 2)).to.deep.equal([
          { word: 'to', count: 2 },
          { word: 'be', count: 2 },
        ]);
        expect(await held()).to.deep.equal({
          caller: before.caller - PRICE,
          creator: before.creator + PRICE - FEE,
          treasury: before.treasury + FEE,
        });
        await stop();
      });
    }

    async function waitFor(port: number): Promise<void> {
      await until('the server answers', async () => {
        expect(running?.exitCode, 'the server has ended').to.equal(null);
        return fetch(`http://127.0.0.1:${port}/health`).then(Boolean, () => false);
      });
    }
  });
}
