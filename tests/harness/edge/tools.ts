/** Installs tools of other ecosystems, each set in its own folder under target/, on the first run. */
import { type SpawnOptions, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const TARGET = join(import.meta.dirname, '..', '..', '..', 'target');

export interface Finished {
  code: number | null;
  /** Standard output and standard error. */
  output: string;
  /** Standard output alone. */
  stdout: string;
}

/**
 * Runs a program to its end. Resolves with its output even if it fails. `input` is its standard input; `onLine` gets each
 * line of its standard output as it is written.
 */
export function run(
  command: string,
  args: string[],
  { input, onLine, ...options }: SpawnOptions & { input?: string; onLine?: (line: string) => void } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let [output, stdout] = ['', ''];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
    if (onLine) createInterface(child.stdout!).on('line', onLine);
    child.on('error', (error) => resolve({ code: null, output: output + error.message, stdout }));
    child.on('close', (code) => resolve({ code, output, stdout }));
    // A program that fails may end before it has read all of its input.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** A folder of installed tools. `obstacle` says why they could not be installed, or is null. */
export interface Tools {
  folder: string;
  obstacle: string | null;
}

/** Skips all tests where tools could not be installed, as without a network. In CI that is a failure. */
export function requireTools(test: Mocha.Context, ...tools: Tools[]): void {
  const obstacle = tools.map((one) => one.obstacle).find((one) => one !== null);
  if (!obstacle) return;
  if (process.env.CI) throw new Error(obstacle);
  console.log(`      skipped: ${obstacle}`);
  test.skip();
}

/** Installs a requirements file into a virtual environment. */
export async function installPython(name: string, requirements: string): Promise<Tools> {
  const folder = join(TARGET, name);
  return once(folder, requirements, async () => {
    const made = await makeEnvironment(folder);
    if (made.code !== 0) return `python3 with its venv module is needed, Debian's package python3-venv: ${made.output}`;
    const installed = await installInto(folder, ['-r', requirements]);
    return installed.code === 0 ? null : `uv could not install it: ${installed.output}`;
  });
}

/** Creates an empty virtual environment. */
export function makeEnvironment(folder: string): Promise<Finished> {
  return run('python3', ['-m', 'venv', '--clear', '--without-pip', folder]);
}

/** Does what `pip install` would do in an environment, but with uv: pip takes ten times the processor time. */
export async function installInto(folder: string, words: string[]): Promise<Finished> {
  const obstacle = await makeUv();
  if (obstacle) return obstacle;
  const options = ['--quiet', '--system-certs', '--python', join(folder, 'bin', 'python')];
  return run(join(UV, 'bin', 'uv'), ['pip', 'install', ...options, ...words]);
}

const UV = join(TARGET, 'uv');
const UV_VERSION = '0.13.9';

/** Installs uv. Returns null, or the failed command. */
async function makeUv(): Promise<Finished | null> {
  if (existsSync(UV)) return null;
  mkdirSync(TARGET, { recursive: true });
  const mine = mkdtempSync(`${UV}-`);
  for (const words of [
    ['python3', '-m', 'venv', mine],
    [join(mine, 'bin', 'pip'), 'install', '--quiet', '--disable-pip-version-check', `uv==${UV_VERSION}`],
  ]) {
    const [command = '', ...args] = words;
    const done = await run(command, args);
    if (done.code !== 0) return done;
  }
  try {
    renameSync(mine, UV);
  } catch {
    // Another suite installed it first.
    rmSync(mine, { recursive: true });
  }
  return null;
}

/** Installs the package-lock.json of a folder. Install scripts of packages do not run. */
export async function installNode(name: string, source: string): Promise<Tools> {
  const folder = join(TARGET, name);
  const lock = join(source, 'package-lock.json');
  return once(folder, lock, async () => {
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(source, 'package.json'), join(folder, 'package.json'));
    copyFileSync(lock, join(folder, 'package-lock.json'));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
    const installed = await run('npm', args, { cwd: folder });
    return installed.code === 0 ? null : `npm could not install it: ${installed.output}`;
  });
}

/** Calls `make` unless the folder was made from the same content of `wanted`, which it keeps a copy of. */
async function once(folder: string, wanted: string, make: () => Promise<string | null>): Promise<Tools> {
  const stamp = join(folder, 'installed.txt');
  const text = readFileSync(wanted, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === text) return { folder, obstacle: null };
  const obstacle = await make();
  if (obstacle === null) writeFileSync(stamp, text);
  return { folder, obstacle };
}
