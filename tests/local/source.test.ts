/** Every npm command runs TypeScript as a bundle. */
import { execFile } from 'node:child_process';
import { readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useFolder } from '../harness/folder.ts';
import { ROOT } from './start.ts';

describe('a TypeScript file under scripts/run.mjs', () => {
  const folder = realpathSync(useFolder('source'));
  const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), lines.join('\n'));
  const run = (): Promise<{ stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const env = { ...process.env, TMPDIR: folder };
      execFile(
        process.execPath,
        ['scripts/run.mjs', join(folder, 'main.ts'), 'word'],
        { cwd: ROOT, env },
        (_, stdout, stderr) => resolve({ stdout, stderr }),
      );
    });
  const bundles = () => {
    const [own] = readdirSync(folder).filter((name) => name.startsWith('agent-marketplace'));
    const [ofRoot] = readdirSync(join(folder, own!));
    return readdirSync(join(folder, own!, ofRoot!)).filter((name) => name.startsWith('entry-main-'));
  };

  before(() => {
    write(
      'main.ts',
      "import { Command } from 'commander';",
      "import { answer } from './answer.ts';",
      // Split in two, because the bundler of this file would replace it by its value.
      ['const place: string = import.meta', 'dirname;'].join('.'),
      "console.log(answer.name, Command.name, place, process.argv.slice(1).join(' '));",
      "throw new Error('with a line');",
    );
    write('answer.ts', 'export function answer(): number { return 1; }');
  });

  it('knows its directory, its arguments, its names and its lines', async () => {
    const { stdout, stderr } = await run();
    expect(stdout).to.equal(`answer Command ${folder} ${join(folder, 'main.ts')} word\n`);
    expect(stderr)
      .to.include('Error: with a line')
      .and.include(`${join(folder, 'main.ts')}:5:7`);
  });

  it('keeps one bundle for each state of its sources, and reads every change', async () => {
    expect(bundles()).to.have.length(1);
    await run();
    expect(bundles()).to.have.length(1);
    write('answer.ts', 'function other(): number { return 1; }', 'export { other as answer };');
    expect((await run()).stdout).to.include('other Command');
    expect(bundles()).to.have.length(2);
  });

  it('names file and line of a syntax error', async () => {
    write('answer.ts', 'export const answer = ;');
    expect((await run()).stderr).to.match(/answer\.ts:1:22: ERROR/);
  });
});
