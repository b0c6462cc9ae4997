/**
 * `npm test`: every suite in a process of its own, then the counts of all of them on one line. Most of them wait most of
 * the time, so two run at once, and what a suite prints is shown as it ends; one by one, and as they print, with
 * `--lanes 1`. `npm test -- api local` runs only those suites, `npm test -- relay` all that lie in tests/relay.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SUITES, type Suite } from './suites.ts';

interface Counts {
  passes: number;
  failures: number;
  pending: number;
  /** Each failed test by its full title. */
  failed?: { title: string; error: string }[];
}

interface Ran {
  /** Null where a signal ended it. */
  status: number | null;
  /** Not even started: there is no such command. */
  isMissing: boolean;
  output: string;
}

/** A suite that prints nothing for so long hangs: the longest that one test may take, and some more. */
const SILENT_MS = Number(process.env.TEST_SILENT_MS ?? 25 * 60_000);
const LOOK_MS = 1_000;
/** What a process printed last may come after its end. */
const LAST_WORDS_MS = 2_000;

const root = join(import.meta.dirname, '..');
const mocha = join(createRequire(import.meta.url).resolve('mocha/package.json'), '..', 'bin', 'mocha.js');
const running = new Set<ChildProcess>();

/** It and all that it started and left behind. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {}
}

/** Runs a command to its end, or until it has said nothing for too long; `hear` gets what it prints as it comes. */
async function run(
  command: string,
  argv: string[],
  env: NodeJS.ProcessEnv,
  hear: (text: string) => void,
): Promise<Ran> {
  // A group of its own, so that whatever it leaves behind can be ended with it.
  const child = spawn(command, argv, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  let heardAt = performance.now();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      heardAt = performance.now();
      output += text;
      hear(text);
    });
  }
  const watching = setInterval(() => {
    if (performance.now() - heardAt < SILENT_MS) return;
    output += `\n  nothing was printed for ${Math.round(SILENT_MS / 1_000)} s: ended\n`;
    endGroup(child);
  }, LOOK_MS);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const [status, isMissing] = await new Promise<[number | null, boolean]>((resolve) => {
    child.once('exit', (code) => resolve([code, false]));
    child.once('error', () => resolve([null, true]));
  });
  clearInterval(watching);
  await Promise.race([closed, sleep(LAST_WORDS_MS)]);
  endGroup(child);
  running.delete(child);
  return { status, isMissing, output };
}

function patternsOf({ folder, files, without = [] }: Suite): string[] {
  const ignored = without.flatMap((file) => ['--ignore', `tests/${folder}/${file}.test.ts`]);
  return [...(files ?? ['**/*']).map((file) => `tests/${folder}/${file}.test.ts`), ...ignored];
}

interface Result extends Counts {
  output: string;
}

/** Run mocha over a suite's files. A suite that dies or hangs without counts is one failure. */
async function runMocha(suite: Suite, hear: (text: string) => void): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-tests-'));
  const counts = join(folder, 'counts.json');
  let output = '';
  try {
    const reporter = ['--reporter', 'tests/harness/reporter.cjs', '--reporter-option', `counts=${counts}`];
    const hooks = suite.hooks ? ['--require', suite.hooks] : [];
    const color = process.stdout.isTTY ? ['--color'] : [];
    const argv = [mocha, ...reporter, ...color, ...hooks, ...patternsOf(suite)];
    const ran = await run(process.execPath, argv, { ...process.env, ...suite.env }, hear);
    output = ran.output;
    const result = JSON.parse(readFileSync(counts, 'utf8')) as Counts;
    if (ran.status !== 0 && result.failures === 0) result.failures = 1;
    return { ...result, output };
  } catch {
    const error = output.trimEnd().split('\n').slice(-5).join('\n');
    const failed = [{ title: 'the suite ended before its tests did', error }];
    return { passes: 0, failures: 1, pending: 0, failed, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Run cargo's tests and add up its result lines; without cargo they are skipped, and that is said. */
async function runCargo(hear: (text: string) => void): Promise<Result> {
  const argv = ['test', '--locked', '-p', 'marketplace', '--lib'];
  const { status, isMissing, output } = await run('cargo', argv, process.env, hear);
  if (isMissing) return { passes: 0, failures: 0, pending: 1, output: '  cargo is not installed: skipped\n' };
  const lines = [...output.matchAll(/(\d+) passed; (\d+) failed; (\d+) ignored/g)];
  const sum = (index: number) => lines.reduce((total, line) => total + Number(line[index]), 0);
  const failures = status === 0 ? sum(2) : Math.max(1, sum(2));
  return { passes: sum(1), failures, pending: sum(3), output };
}

/** Every test file, its path from tests/. */
function testFiles(): string[] {
  const files = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.test.ts')).map((file) => file.split(sep).join('/'));
}

interface Finished {
  suite: Suite;
  result: Result;
  minutes: string;
}

/** `isLive`: what it prints is shown as it comes, because nothing else is. */
async function runSuite(suite: Suite, isLive: boolean): Promise<Finished> {
  const title = `${suite.name}: ${suite.about}`;
  console.log(isLive ? `\n== ${title}` : `-- ${suite.name} begins`);
  const started = performance.now();
  const hear = isLive ? (text: string) => void process.stdout.write(text) : () => undefined;
  const result = await (suite.folder === undefined ? runCargo(hear) : runMocha(suite, hear));
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  if (!isLive) console.log(`\n== ${title}\n${result.output}-- ${suite.name} has ended after ${minutes} min`);
  return { suite, result, minutes };
}

/** So many at once, but for those that run alone; in the order of the suites. */
async function runAll(suites: Suite[], lanes: number): Promise<Finished[]> {
  const finished: Finished[] = [];
  const shared = lanes > 1 ? suites.filter(({ alone }) => !alone) : [];
  const isLive = shared.length < 2;
  const waiting = [...shared];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) finished.push(await runSuite(next, isLive));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  for (const suite of suites) if (!shared.includes(suite)) finished.push(await runSuite(suite, true));
  return finished.sort((one, other) => suites.indexOf(one.suite) - suites.indexOf(other.suite));
}

/** What was asked for; throws an Error that says what is wrong with it. */
function readArguments(argv: string[]): { suites: Suite[]; lanes: number } {
  const at = argv.indexOf('--lanes');
  const value = at < 0 ? Math.min(2, availableParallelism()) : Number(argv[at + 1]);
  if (!Number.isInteger(value) || value < 1) throw new Error('--lanes takes how many suites run at once, from 1');
  const names = at < 0 ? argv : argv.toSpliced(at, 2);
  const named = (suite: Suite, name: string) => suite.name === name || suite.folder?.startsWith(`${name}/`);
  const unknown = names.find((name) => !SUITES.some((suite) => named(suite, name)));
  if (unknown !== undefined) {
    throw new Error(`There is no suite ${unknown}; there are ${SUITES.map((suite) => suite.name).join(', ')}.`);
  }
  const suites = SUITES.filter((suite) => names.length === 0 || names.some((name) => named(suite, name)));
  return { suites, lanes: value };
}

/** Throws where a test is of no suite, or a suite names a file that is not there. */
function requireWhole(): void {
  const files = testFiles();
  const orphan = files.find((file) => !SUITES.some(({ folder }) => folder && file.startsWith(`${folder}/`)));
  if (orphan) {
    throw new Error(`tests/${orphan} lies in no suite's folder: move it, or add its folder in scripts/suites.ts.`);
  }
  for (const { name, folder, files: only = [], without = [] } of SUITES) {
    const missing = [...only, ...without].find((file) => !files.includes(`${folder}/${file}.test.ts`));
    if (missing) throw new Error(`The suite ${name} names ${missing}, which is no file of tests/${folder}.`);
  }
}

async function main(argv: string[]): Promise<number> {
  if (argv.includes('--help')) {
    console.log('npm test [-- [--lanes N] SUITE ...]\n');
    for (const suite of SUITES) console.log(`  ${suite.name.padEnd(22)} ${suite.about}`);
    return 0;
  }
  let asked: ReturnType<typeof readArguments>;
  try {
    asked = readArguments(argv);
    requireWhole();
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  const rows: string[] = [];
  const failed: string[] = [];
  const total = { passes: 0, failures: 0, pending: 0 };
  for (const { suite, result, minutes } of await runAll(asked.suites, asked.lanes)) {
    const { passes, failures, pending } = result;
    rows.push(
      `${suite.name.padEnd(22)} ${String(passes).padStart(5)} passed ${String(failures).padStart(4)} failed ${minutes.padStart(6)} min`,
    );
    for (const { title, error } of result.failed ?? [])
      failed.push(`${suite.name}: ${title}\n  ${error.split('\n').slice(0, 20).join('\n  ')}`);
    total.passes += passes;
    total.failures += failures;
    total.pending += pending;
  }
  // Said again at the end, where a log that was cut off still has it.
  if (failed.length > 0) console.log(`\nFailed:\n\n${failed.join('\n\n')}`);
  console.log(`\n${rows.join('\n')}\n`);
  console.log(`${total.passes} passed, ${total.failures} failed${total.pending ? `, ${total.pending} skipped` : ''}`);
  return total.failures === 0 && total.passes > 0 ? 0 : 1;
}

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.once(signal, () => {
    for (const child of running) endGroup(child);
    process.exit(status);
  });
}
process.exit(await main(process.argv.slice(2)));
