/**
 * `npm run check`: all static checks of the code. Runs all of them, then names those that failed. With `--fix`, the
 * formatters and the linters' safe fixes rewrite files first.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const HELP = `Usage: npm run check -- [options]

Runs cargo fmt, clippy, Biome, the TypeScript compiler and dependency-cruiser (allowed imports, no
cycles). The exit code is 1 if any of them finds a fault.
  --fix    let cargo fmt and Biome rewrite what they can
  --help   print this text`;

interface Check {
  name: string;
  command: string;
  args: string[];
  fixArgs?: string[];
  /** Advice if the command cannot be started. */
  missing: string;
}

const RUST = 'install Rust: https://rustup.rs, then rustup component add rustfmt clippy';
const NPM = 'run npm ci';
const SOURCES = ['app', 'indexer', 'migrations', 'bench', 'scripts', 'tests', 'examples'];
const COLORS = process.stderr.isTTY ? '--colors=force' : '--colors=off';
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);
/** TypeScript 7, which takes a third of the time. `typescript` is 5.9, whose API other tools need. */
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

const CHECKS: Check[] = [
  {
    name: 'cargo fmt',
    command: 'cargo',
    args: ['fmt', '--all', '--check'],
    fixArgs: ['fmt', '--all'],
    missing: RUST,
  },
  {
    name: 'clippy',
    command: 'cargo',
    args: ['clippy', '--quiet', '--locked', '--workspace', '--all-targets', '--', '-D', 'warnings'],
    missing: RUST,
  },
  {
    name: 'biome',
    command: bin('biome'),
    args: ['ci', COLORS, '--error-on-warnings'],
    fixArgs: ['check', '--write', COLORS, '--error-on-warnings'],
    missing: NPM,
  },
  { name: 'tsc', command: TSC, args: ['--noEmit', '-p', ROOT], missing: NPM },
  {
    name: 'tsc of the page',
    command: TSC,
    args: ['--noEmit', '-p', join(ROOT, 'app/dashboard')],
    missing: NPM,
  },
  {
    name: 'arrows',
    command: bin('depcruise'),
    args: ['--config', '.dependency-cruiser.mjs', ...SOURCES],
    missing: NPM,
  },
];

interface Outcome {
  /** Null if the command could not be started. */
  status: number | null;
  output: string;
}

/** Runs a command to its end and buffers its output, because others print at the same time. */
function run(command: string, args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', ({ message }) => resolve({ status: null, output: `${message}\n` }));
    child.once('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** Runs the checks one after another. Returns the names of the failed ones. */
async function findFailed(checks: Check[], fix: boolean): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, command, args, fixArgs, missing } of checks) {
    const started = Date.now();
    const { status, output } = await run(command, fix && fixArgs ? fixArgs : args);
    const seconds = ((Date.now() - started) / 1_000).toFixed(1);
    console.error(`${output}${name} ${status === 0 ? 'passed' : 'failed'} (${seconds} s)`);
    if (status === null) console.error(`${command} cannot be started: ${missing}`);
    if (status !== 0) failed.push(name);
  }
  return failed;
}

try {
  const { values } = parseArgs({ options: { fix: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(HELP);
  } else {
    // The checks by cargo take as long as all others together.
    const isCargo = ({ command }: Check) => command === 'cargo';
    const sides = [CHECKS.filter(isCargo), CHECKS.filter((check) => !isCargo(check))];
    const failed = (await Promise.all(sides.map((checks) => findFailed(checks, values.fix ?? false)))).flat();
    if (failed.length > 0) {
      console.error(
        `\nFailed: ${failed.join(', ')}.${values.fix ? '' : ' npm run check -- --fix can fix some of them.'}`,
      );
      process.exitCode = 1;
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
