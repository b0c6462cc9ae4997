/** Rules for every command before it runs: help, JSON for scripts, and a fast start. */
import { expect } from 'chai';
import type { Command } from 'commander';
import { build } from 'esbuild';
import { createProgram } from '../../app/cli/run.ts';
import { pagePaths, readPage } from '../docs/markdown.ts';
import { run } from '../harness/edge/tools.ts';
import { ROOT } from '../local/start.ts';
import { runHere } from './run.ts';

/** The full names of all commands, without groups. */
function leavesOf(command: Command, words: string[] = []): string[][] {
  if (command.commands.length === 0) return [words];
  return command.commands.flatMap((child) => leavesOf(child, [...words, child.name()]));
}

const COMMANDS = readPage('docs/commands.md');

/** An address, and an execution. */
const [ADDRESS, ID] = ['1'.repeat(32), '00000000-0000-8000-8000-000000000000'];
/** Wrong values of arguments and options, and missing ones. */
const WRONG = [
  'unheard-of',
  'admin update-config --tiers 1:2:3',
  'admin update-config --fee-bps 1e2',
  'admin update-config --min-price -1',
  `admin resolve-dispute ${ID} --reject --uphold 1 --reason-file f`,
  `admin resolve-dispute ${ID} --reject`,
  `dispute open ${ID}`,
  `dispute open ${ID} --evidence f --evidence-uri ${'x'.repeat(201)}`,
  'execution show ABC',
  `execution open ${ADDRESS} --request-hash 00`,
  `execution open ${ADDRESS} --parameters []`,
  `execution open ${ADDRESS} --max-price 0`,
  'gas add',
  'gas add 0.0000000001',
  'gas take all',
  'gas show --of nobody',
  'keys close xyz',
  'keys create --name x --gas 0',
  'keys create --name x --max-gas 100001',
  'local fund nobody --sol 1',
  `local fund ${ADDRESS} --sol 0`,
  'local travel far',
];

describe('the command line before a command runs', function () {
  this.timeout(600_000);
  it('prints help for every command', async () => {
    const commands = leavesOf(createProgram());
    expect(commands.length).to.be.greaterThan(30);
    for (const words of commands) {
      const { code, stdout, stderr } = await runHere([...words, '--help']);
      expect({ code, stderr }, words.join(' ')).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout, words.join(' '))
        .to.include(`Usage: npm run cli -- ${words.join(' ')}`)
        .and.include('--json');
    }
  });

  for (const line of WRONG) {
    it(`refuses as wrong usage: ${line.slice(0, 70)}`, async () => {
      const { code, stdout, stderr } = await runHere(line.split(' '));
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(
        /^(execution|keys close)/.test(line) ? /^error: .* is invalid.* It must be / : /^error: /,
      );
    });
  }

  it('matches docs/commands.md, which names every command, and all examples use existing options only', () => {
    const program = createProgram();
    const start = COMMANDS.indexOf('| `npm run cli --` |');
    const table = COMMANDS.slice(start, COMMANDS.indexOf('\n\n', start));
    for (const [group, name] of leavesOf(program)) {
      // A group's rows begin with its name; the rows after it have an empty first cell.
      const rows = new RegExp(`\\| \`${group}\` \\|.*\\n(?:\\| \\|.*\\n?)*`).exec(table)?.[0] ?? '';
      expect(rows, `${group} ${name}`).to.match(new RegExp(`\`${name}[ \`]`));
    }
    const pages = pagePaths().map(readPage).join('\n');
    const examples = [...pages.matchAll(/^npm run cli -- (.+)$/gm)].map((match) => match[1]!.split(/\s+/));
    expect(examples.length).to.be.greaterThan(5);
    for (const words of examples) {
      const group = program.commands.find((command) => command.name() === words[0]);
      const command = group?.commands.find((child) => child.name() === words[1]);
      const options = words.filter((word) => word.startsWith('--'));
      expect(
        command?.options.map(({ long }) => long),
        words.join(' '),
      ).to.include.members(options);
    }
  });

  // The others parse their command lines with the same function. The image of tests/local/apart.test.ts prints the help of
  // relay, indexer and drill.
  it('is read alike by scripts and relay: they print help, and refuse unknown words with exit code 2', async () => {
    const runs = (...words: string[]) => run(process.execPath, ['scripts/run.mjs', ...words], { cwd: ROOT });
    const help = await runs('scripts/test.ts', '--help');
    expect([help.code, help.output.includes('npm ')], help.output).to.deep.equal([0, true]);
    for (const [file, ...words] of [
      ['scripts/test.ts', 'unheard-of'],
      ['app/relay/main.ts', 'restore', 'a', 'b'],
    ]) {
      const { code, output } = await runs(file!, ...words);
      expect(code, output).to.equal(2);
      expect(output).to.include(words.join(' '));
    }
  });

  it("loads nothing of the chain, the schemas or the API's client before a command runs", async () => {
    const options = { bundle: true, splitting: true, metafile: true, write: false, packages: 'external' } as const;
    const place = { entryPoints: ['app/cli/main.ts'], outdir: 'out', absWorkingDir: ROOT };
    const { metafile } = await build({ ...options, ...place, format: 'esm', platform: 'node' });
    const loaded = new Set<string>();
    const load = (path: string): void => {
      if (loaded.has(path)) return;
      loaded.add(path);
      const { inputs = {}, imports = [] } = metafile.outputs[path] ?? {};
      for (const input of Object.keys(inputs)) loaded.add(input);
      for (const { path: next, kind } of imports) if (kind === 'import-statement') load(next);
    };
    load('out/main.js');
    expect([...loaded]).to.include.members(['commander', 'app/cli/run.ts']);
    const heavy = /web3\.js|spl-token|anchor|zod|@trpc|ajv|undici|marketplace\.ts$|program\.ts$/;
    expect([...loaded].filter((name) => heavy.test(name))).to.deep.equal([]);
  });
});
