/**
 * `npm test`: every suite in a process of its own, then the counts of all of them on one line.
 * `npm test -- api local` runs only those suites, `npm test -- relay` all that lie in tests/relay.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';

interface Suite {
  /** The last part of its folder's name. */
  name: string;
  about: string;
  /** Below tests/; every test file in it and below it. None for the tests that cargo runs. */
  folder?: string;
  /** Only these files of it, without `.test.ts`. */
  files?: string[];
  env?: Record<string, string>;
  /** Root hooks for the whole suite, path from the root. */
  hooks?: string;
}

interface Counts {
  passes: number;
  failures: number;
  pending: number;
  /** Each failed test by its full title. */
  failed?: { title: string; error: string }[];
}

const COVERAGE = 'tests/program/coverage.ts';

/** On PostgreSQL instead of SQLite. */
const POSTGRES = { DATABASE: 'postgres' };

/** In the order in which a fault shows soonest: the cheap ones first. */
const SUITES: Suite[] = [
  { name: 'rust', about: "the program's own unit tests" },
  { name: 'sdk', about: 'what everybody imports', folder: 'sdk' },
  {
    name: 'program',
    about: 'the program on the current runtime',
    folder: 'program',
    env: { VM: 'litesvm' },
    hooks: COVERAGE,
  },
  {
    name: 'program-bankrun',
    about: 'the program on an old runtime',
    folder: 'program',
    env: { VM: 'bankrun' },
    hooks: COVERAGE,
  },
  { name: 'creators', about: 'the demo creators', folder: 'creators' },
  { name: 'database', about: 'PostgreSQL, and what both databases have in common', folder: 'database' },
  { name: 'indexer', about: 'events to tables, on a real node', folder: 'indexer' },
  { name: 'api', about: 'the API over real tables', folder: 'relay/api' },
  {
    name: 'contract',
    about: 'the published document: the API against it by schemathesis, clients generated from it, linters',
    folder: 'contract',
  },
  { name: 'operation', about: 'stopping, backups, reconciling, logs and metrics', folder: 'relay/operation' },
  { name: 'calls', about: 'paid calls, on a real node', folder: 'relay/calls' },
  { name: 'misbehaviour', about: 'creators that do everything wrong', folder: 'relay/misbehaviour' },
  { name: 'kills', about: 'the relay killed at every step', folder: 'relay/kills' },
  { name: 'rpc', about: 'the relay behind a node with faults', folder: 'relay/rpc' },
  { name: 'chaos', about: 'kills, faults and bad creators by seed', folder: 'relay/chaos' },
  {
    name: 'indexer-postgres',
    about: 'events to tables, on PostgreSQL',
    folder: 'indexer',
    files: ['apply'],
    env: POSTGRES,
  },
  { name: 'api-postgres', about: 'the API over tables in PostgreSQL', folder: 'relay/api', env: POSTGRES },
  {
    name: 'operation-postgres',
    about: 'a ledger in PostgreSQL that several relays share',
    folder: 'relay/operation',
    // The others are about SQLite's files and plans, or about what no database changes.
    files: ['authorities', 'metrics', 'results', 'shutdown'],
    env: POSTGRES,
  },
  {
    name: 'calls-postgres',
    about: 'paid calls, on PostgreSQL',
    folder: 'relay/calls',
    // `reservations` opens SQLite's files itself. `protection` does not hold yet: the order of calls that wait is not kept, and
    // an emptied tank burns more fees before it is noticed, within the budgets.
    files: ['money', 'idempotency', 'keys', 'start'],
    env: POSTGRES,
  },
  {
    name: 'kills-postgres',
    about: 'relays and PostgreSQL itself killed',
    folder: 'relay/kills',
    files: ['severalRelays'],
    env: POSTGRES,
  },
  { name: 'integrator', about: 'the program by Anchor and its IDL alone', folder: 'integrator' },
  { name: 'cli', about: 'the command line', folder: 'cli' },
  { name: 'docs', about: 'the pages: every command and link in them', folder: 'docs' },
  { name: 'local', about: 'npm start', folder: 'local' },
  { name: 'dashboard', about: 'the page, in a real Chromium on a running network', folder: 'dashboard' },
  { name: 'journey', about: 'everything together, as a newcomer meets it', folder: 'journey' },
];

const root = join(import.meta.dirname, '..');
const mocha = join(createRequire(import.meta.url).resolve('mocha/package.json'), '..', 'bin', 'mocha.js');

function patternsOf({ folder, files }: Suite): string[] {
  return (files ?? ['**/*']).map((file) => `tests/${folder}/${file}.test.ts`);
}

/** Run mocha over a suite's files. A suite that dies without counts is one failure. */
function runMocha(suite: Suite): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-tests-'));
  const counts = join(folder, 'counts.json');
  try {
    const reporter = ['--reporter', 'tests/harness/reporter.cjs', '--reporter-option', `counts=${counts}`];
    const hooks = suite.hooks ? ['--require', suite.hooks] : [];
    const run = spawnSync(process.execPath, [mocha, ...reporter, ...hooks, ...patternsOf(suite)], {
      cwd: root,
      env: { ...process.env, ...suite.env },
      stdio: 'inherit',
    });
    const result = JSON.parse(readFileSync(counts, 'utf8')) as Counts;
    if (run.status !== 0 && result.failures === 0) result.failures = 1;
    return result;
  } catch {
    return { passes: 0, failures: 1, pending: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Run cargo's tests and add up its result lines; without cargo they are skipped, and that is said. */
function runCargo(): Counts {
  const run = spawnSync('cargo', ['test', '--locked', '-p', 'marketplace', '--lib'], { cwd: root, encoding: 'utf8' });
  if (run.error) {
    console.log('  cargo is not installed: skipped');
    return { passes: 0, failures: 0, pending: 1 };
  }
  console.log(run.stdout, run.status === 0 ? '' : run.stderr);
  const lines = [...run.stdout.matchAll(/(\d+) passed; (\d+) failed; (\d+) ignored/g)];
  const sum = (index: number) => lines.reduce((total, line) => total + Number(line[index]), 0);
  const failures = run.status === 0 ? sum(2) : Math.max(1, sum(2));
  return { passes: sum(1), failures, pending: sum(3) };
}

/** Every test file, its path from tests/. */
function testFiles(): string[] {
  const files = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.test.ts')).map((file) => file.split(sep).join('/'));
}

function main(names: string[]): number {
  if (names.includes('--help')) {
    console.log('npm test [-- SUITE ...]\n');
    for (const suite of SUITES) console.log(`  ${suite.name.padEnd(16)} ${suite.about}`);
    return 0;
  }
  const named = (suite: Suite, name: string) => suite.name === name || suite.folder?.startsWith(`${name}/`);
  const unknown = names.find((name) => !SUITES.some((suite) => named(suite, name)));
  if (unknown) {
    console.error(`There is no suite ${unknown}; there are ${SUITES.map((suite) => suite.name).join(', ')}.`);
    return 2;
  }
  const orphan = testFiles().find((file) => !SUITES.some(({ folder }) => folder && file.startsWith(`${folder}/`)));
  if (orphan) {
    console.error(
      `tests/${orphan} lies in no suite's folder: move it, or add its folder to SUITES in scripts/test.ts.`,
    );
    return 2;
  }
  const rows: string[] = [];
  const failed: string[] = [];
  const total: Counts = { passes: 0, failures: 0, pending: 0 };
  for (const suite of SUITES.filter(
    (candidate) => names.length === 0 || names.some((name) => named(candidate, name)),
  )) {
    console.log(`\n== ${suite.name}: ${suite.about}`);
    const started = performance.now();
    const counts = suite.name === 'rust' ? runCargo() : runMocha(suite);
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    rows.push(
      `${suite.name.padEnd(16)} ${String(counts.passes).padStart(5)} passed ${String(counts.failures).padStart(4)} failed ${minutes.padStart(6)} min`,
    );
    for (const { title, error } of counts.failed ?? [])
      failed.push(`${suite.name}: ${title}\n  ${error.split('\n').slice(0, 20).join('\n  ')}`);
    total.passes += counts.passes;
    total.failures += counts.failures;
    total.pending += counts.pending;
  }
  // Said again at the end, where a log that was cut off still has it.
  if (failed.length > 0) console.log(`\nFailed:\n\n${failed.join('\n\n')}`);
  console.log(`\n${rows.join('\n')}\n`);
  console.log(`${total.passes} passed, ${total.failures} failed${total.pending ? `, ${total.pending} skipped` : ''}`);
  return total.failures === 0 && total.passes > 0 ? 0 : 1;
}

process.exit(main(process.argv.slice(2)));
