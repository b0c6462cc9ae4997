// `npm test`: every suite in a process of its own, then the counts of all of them on one line.
// `npm test -- relay local` runs only those suites.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Suite {
  name: string;
  about: string;
  files: string[];
  env?: Record<string, string>;
}

interface Counts {
  passes: number;
  failures: number;
  pending: number;
  /** Each failed test by its full title. */
  failed?: { title: string; error: string }[];
}

/** In the order in which a fault shows soonest: the cheap ones first. */
const SUITES: Suite[] = [
  { name: 'rust', about: "the program's own unit tests", files: [] },
  { name: 'sdk', about: 'what everybody imports', files: ['tests/sdk/**/*.test.ts', 'tests/architecture.test.ts'] },
  {
    name: 'program',
    about: 'the program on the current runtime',
    files: ['tests/program/**/*.test.ts'],
    env: { VM: 'litesvm' },
  },
  {
    name: 'program-bankrun',
    about: 'the program on an old runtime',
    files: ['tests/program/**/*.test.ts'],
    env: { VM: 'bankrun' },
  },
  { name: 'creators', about: 'the demo creators', files: ['tests/creators/**/*.test.ts'] },
  { name: 'indexer', about: 'events to tables, on a real node', files: ['tests/indexer/**/*.test.ts'] },
  { name: 'api', about: 'the API over real tables', files: ['tests/relay/api/**/*.test.ts'] },
  {
    name: 'contract',
    about: 'the published document: the API against it by schemathesis, clients generated from it, linters',
    files: ['tests/contract/**/*.test.ts'],
  },
  {
    name: 'operation',
    about: 'stopping, backups, reconciling, logs and metrics',
    files: ['tests/relay/operation/**/*.test.ts'],
  },
  { name: 'relay', about: 'paid calls, on a real node', files: ['tests/relay/*.test.ts'] },
  { name: 'misbehaviour', about: 'creators that do everything wrong', files: ['tests/relay/creators/**/*.test.ts'] },
  {
    name: 'kills',
    about: 'the relay killed at every step',
    files: ['tests/relay/faults/kills.test.ts', 'tests/relay/faults/recovery.test.ts'],
  },
  { name: 'rpc', about: 'the relay behind a node with faults', files: ['tests/relay/faults/rpc.test.ts'] },
  { name: 'chaos', about: 'kills, faults and bad creators by seed', files: ['tests/relay/chaos/**/*.test.ts'] },
  {
    name: 'integrator',
    about: 'the program by Anchor and its IDL alone',
    files: ['tests/integrator/**/*.test.ts'],
  },
  { name: 'cli', about: 'the command line', files: ['tests/cli/**/*.test.ts'] },
  { name: 'local', about: 'npm start', files: ['tests/local/**/*.test.ts'] },
  { name: 'journey', about: 'everything together, as a newcomer meets it', files: ['tests/*.test.ts'] },
];

const root = join(import.meta.dirname, '..');
const mocha = join(createRequire(import.meta.url).resolve('mocha/package.json'), '..', 'bin', 'mocha.js');

/** Run mocha over a suite's files. A suite that dies without counts is one failure. */
function runMocha(suite: Suite): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-tests-'));
  const counts = join(folder, 'counts.json');
  try {
    const reporter = ['--reporter', 'tests/harness/reporter.cjs', '--reporter-option', `counts=${counts}`];
    const ignore = suite.name === 'journey' ? ['--ignore', 'tests/architecture.test.ts'] : [];
    const run = spawnSync(process.execPath, [mocha, ...reporter, ...ignore, ...suite.files], {
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

function main(names: string[]): number {
  if (names.includes('--help')) {
    console.log('npm test [-- SUITE ...]\n');
    for (const suite of SUITES) console.log(`  ${suite.name.padEnd(16)} ${suite.about}`);
    return 0;
  }
  const unknown = names.find((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown) {
    console.error(`There is no suite ${unknown}; there are ${SUITES.map((suite) => suite.name).join(', ')}.`);
    return 2;
  }
  const rows: string[] = [];
  const failed: string[] = [];
  const total: Counts = { passes: 0, failures: 0, pending: 0 };
  for (const suite of SUITES.filter((candidate) => names.length === 0 || names.includes(candidate.name))) {
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
