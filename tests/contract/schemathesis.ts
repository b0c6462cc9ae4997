/** Runs schemathesis (PyPI) from an environment of its own under target/, made on the first run. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const ENVIRONMENT = join(ROOT, 'target', 'schemathesis');
/** Holds the requirements that are installed there. */
const STAMP = join(ENVIRONMENT, 'installed.txt');

export interface Finished {
  code: number | null;
  output: string;
}

/** Runs a program to its end; resolves also where it fails, with everything that it printed. */
function run(command: string, args: string[], options: SpawnOptions = {}): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    child.on('error', (error) => resolve({ code: null, output: output + error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Installs it where it is not yet; returns why that was not possible, or null. */
export async function install(): Promise<string | null> {
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return null;
  const made = await run('python3', ['-m', 'venv', '--clear', ENVIRONMENT]);
  if (made.code !== 0) return `python3 with its venv module is needed: ${made.output}`;
  const pip = join(ENVIRONMENT, 'bin', 'pip');
  const installed = await run(pip, ['install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
  if (installed.code !== 0) return `pip could not install it: ${installed.output}`;
  writeFileSync(STAMP, wanted);
  return null;
}

/** `schemathesis run` in the folder of its configuration, where it leaves its notes; checks.py is found by its name. */
export function runSchemathesis(config: string, args: string[]): Promise<Finished> {
  return run(join(ENVIRONMENT, 'bin', 'schemathesis'), ['--config-file', config, 'run', ...args], {
    cwd: dirname(config),
    env: { ...process.env, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: import.meta.dirname },
  });
}
