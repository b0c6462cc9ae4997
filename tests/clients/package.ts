/** The Python package as users get it: built, and installed with pip-compatible tools into an empty environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { blocksOf, ROOT } from '../docs/markdown.ts';
import { installInto, installPython, makeEnvironment, run, type Tools } from '../harness/edge/tools.ts';

export const SOURCE = join(ROOT, 'clients', 'python');
const HERE = import.meta.dirname;
/** The lines of the README that install the package. The tests install its wheel instead. */
const INSTALL = /^pip install "?CHECKOUT\/clients\/python(\[\w+\])?"?(.*)$/m;

export type PythonPackage = Awaited<ReturnType<typeof buildPackage>>;

/** Installs the tools that build and check the package. */
export const installTools = (): Promise<Tools> => installPython('clients-python', join(HERE, 'requirements.txt'));

/** Builds sdist and wheel, installs the wheel into an empty environment, and writes the README's programs to files. */
export async function buildPackage(bin: string) {
  const folder = mkdtempSync(join(tmpdir(), 'clients-python-'));
  const children: ChildProcess[] = [];
  const environment = { ...process.env, NO_COLOR: '1', PYTHONWARNINGS: 'error::ResourceWarning' };
  // Builds the wheel from the sdist, which proves that the sdist is complete.
  const built = await run(join(bin, 'python'), ['-m', 'build', '--no-isolation', '--outdir', folder, SOURCE]);
  expect(built.code, built.output).to.equal(0);
  const [wheel = '', sdist = ''] = readdirSync(folder).sort((one) => (one.endsWith('.whl') ? -1 : 1));

  const venv = join(folder, 'venv');
  const made = await makeEnvironment(venv);
  expect(made.code, made.output).to.equal(0);
  const blocks = blocksOf('clients/python/README.md');
  const words = blocks.flatMap(({ language, text }) => {
    const [found, extra = '', more = ''] = (language === 'sh' && INSTALL.exec(text)) || [];
    return found ? [`${join(folder, wheel)}${extra}`, ...more.trim().split(' ').filter(Boolean)] : [];
  });
  // Pins the versions that are known to work.
  const installed = await installInto(venv, ['--constraint', join(HERE, 'constraints.txt'), ...words]);
  expect(installed.code, installed.output).to.equal(0);
  const programs = blocks.filter(({ language }) => language === 'python').map(({ text }) => text);
  // The marketplace of these tests has no sandbox agents; its agents cost 0.25 USDC.
  const own = (text: string) => text.replaceAll('"sandbox-echo"', '"test-agent"').replaceAll('"0.05"', '"0.25"');
  for (const text of programs) writeFileSync(join(folder, /^# (\S+\.py)$/m.exec(text)![1]!), own(text));

  return {
    folder,
    wheel: join(folder, wheel),
    sdist: join(folder, sdist),
    python: join(venv, 'bin', 'python'),
    /** Runs a program to its end. `input` is its standard input. */
    finish: (args: string[], env: NodeJS.ProcessEnv = {}, input = '') =>
      run(join(venv, 'bin', 'python'), args, { cwd: folder, env: { ...environment, ...env }, input }),
    /** Starts a server. Resolves with the first printed line that matches `wanted`. */
    start(
      args: string[],
      wanted: RegExp,
      env: NodeJS.ProcessEnv = {},
    ): Promise<{ match: RegExpExecArray; lines: string[] }> {
      const child = spawn(join(venv, 'bin', 'python'), args, { cwd: folder, env: { ...environment, ...env } });
      children.push(child);
      const lines: string[] = [];
      return new Promise((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr]) {
          createInterface({ input: stream! }).on('line', (line) => {
            lines.push(line);
            const match = wanted.exec(line);
            if (match) resolve({ match, lines });
          });
        }
        child.on('close', () => reject(new Error(`${args.join(' ')} ended: ${lines.join('\n')}`)));
      });
    },
    stop(): void {
      for (const child of children) child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
