/** The Python package as its users have it: built, and installed into an empty environment with its users' own tools. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { blocksOf, ROOT } from '../docs/markdown.ts';
import { installInto, installPython, makeEnvironment, run } from '../harness/edge/tools.ts';

export const SOURCE = join(ROOT, 'clients', 'python');
const HERE = import.meta.dirname;
/** Where the README installs from the registry. */
const INSTALL = /^pip install "?agent-marketplace(\[\w+\])?"?(.*)$/m;

export type PythonPackage = Awaited<ReturnType<typeof buildPackage>>;

/** Throws the reason if this machine cannot: the suite is then skipped. */
export async function installTools(): Promise<{ bin: string; obstacle: string | null }> {
  const { folder, obstacle } = await installPython('clients-python', join(HERE, 'requirements.txt'));
  const hint = "Debian's package python3-venv has it";
  return { bin: join(folder, 'bin'), obstacle: obstacle && `${obstacle} (${hint})` };
}

/** Builds sdist and wheel, installs the wheel into an empty environment, and writes down the README's programs. */
export async function buildPackage(bin: string) {
  const folder = mkdtempSync(join(tmpdir(), 'clients-python-'));
  const children: ChildProcess[] = [];
  const environment = { ...process.env, NO_COLOR: '1', PYTHONWARNINGS: 'error::ResourceWarning' };
  // By way of the sdist, so that the wheel proves that nothing is missing in it.
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
  // The versions that are known to work.
  const installed = await installInto(venv, ['--constraint', join(HERE, 'constraints.txt'), ...words]);
  expect(installed.code, installed.output).to.equal(0);
  const programs = blocks.filter(({ language }) => language === 'python').map(({ text }) => text);
  for (const text of programs) writeFileSync(join(folder, /^# (\S+\.py)$/m.exec(text)![1]!), text);

  return {
    folder,
    wheel: join(folder, wheel),
    sdist: join(folder, sdist),
    python: join(venv, 'bin', 'python'),
    /** Runs a program to its end, with this standard input. */
    finish: (args: string[], env: NodeJS.ProcessEnv = {}, input = '') =>
      run(join(venv, 'bin', 'python'), args, { cwd: folder, env: { ...environment, ...env }, input }),
    /** Starts a server; resolves with the first line that it prints and `wanted` matches. */
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
