/**
 * `npm run check`: everything that can be said about the code without running it. Runs all checks, then names those that
 * failed; `--fix` lets the formatters and the linters' safe fixes rewrite files first.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const HELP = `Usage: npm run check -- [options]

Runs cargo fmt, clippy, Biome, the TypeScript compiler and dependency-cruiser (who may import whom, and no circle); the
exit code is 1 if any of them finds fault.
  --fix    let cargo fmt and Biome rewrite what they can
  --help   print this text`;

interface Check {
  name: string;
  command: string;
  args: string[];
  fixArgs?: string[];
  /** What to do when the command itself cannot be started. */
  missing: string;
}

const RUST = 'Rust is needed: https://rustup.rs, then rustup component add rustfmt clippy';
const NPM = 'run npm ci';
const SOURCES = ['app', 'indexer', 'migrations', 'bench', 'scripts', 'tests', 'examples'];
const COLORS = process.stderr.isTTY ? '--colors=force' : '--colors=off';
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);

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
  { name: 'tsc', command: bin('tsc'), args: ['--noEmit', '-p', ROOT], missing: NPM },
  {
    name: 'tsc of the page',
    command: bin('tsc'),
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

/** Runs one check with its output passed through; true when it found nothing. */
function passes(check: Check, fix: boolean): boolean {
  const started = Date.now();
  console.error(`${check.name} ...`);
  const args = fix && check.fixArgs ? check.fixArgs : check.args;
  const result = spawnSync(check.command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (result.error) console.error(`${check.name} cannot be started (${result.error.message}): ${check.missing}`);
  const passed = result.status === 0;
  console.error(`${check.name} ${passed ? 'passed' : 'failed'} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  return passed;
}

try {
  const { values } = parseArgs({ options: { fix: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(HELP);
  } else {
    const failed = CHECKS.filter((check) => !passes(check, values.fix ?? false)).map((check) => check.name);
    if (failed.length > 0) {
      console.error(`\nFailed: ${failed.join(', ')}.${values.fix ? '' : ' npm run check -- --fix may repair some.'}`);
      process.exitCode = 1;
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
