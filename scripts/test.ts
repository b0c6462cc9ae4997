/**
 * `npm test`: runs the everyday suites, each in its own process, and prints one line with the total counts.
 * `npm run test:all` also runs the long ones. `npm test -- api kills` runs only these suites; `npm test -- relay` runs
 * all in tests/relay. Several suites run in parallel, because most of them mostly wait. The output of each is shown
 * when it ends. With `--lanes 1` they run one by one, and output is shown at once.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Suite } from './suites/suite.ts';
import { SUITES } from './suites.ts';
import { endGroup, root, run, running } from './timedRun.ts';

interface Counts {
  passes: number;
  failures: number;
  pending: number;
  /** Failed tests by full title. */
  failed?: { title: string; error: string }[];
}

/** The shell's exit code if a command is not found. */
const NOT_FOUND = 127;

/** Peak memory of a suite's processes. */
const SUITE_BYTES = 1.25 * 1024 ** 3;
/** Two more than processors, because suites often wait for slots and timeouts; at most six. With more, all are slow. */
const LANES = Math.max(1, Math.min(6, availableParallelism() + 2, Math.floor(totalmem() / SUITE_BYTES)));

const mocha = join(createRequire(import.meta.url).resolve('mocha/package.json'), '..', 'bin', 'mocha.js');

/** The files of a suite, by paths relative to tests/. */
function filesOf({ folder, files, without = [] }: Suite): string[] {
  const nameOf = (file: string) => file.slice(`${folder}/`.length, -'.test.ts'.length);
  return testFiles().filter((file) => {
    if (!file.startsWith(`${folder}/`) || without.includes(nameOf(file))) return false;
    return files === undefined || files.includes(nameOf(file));
  });
}

/**
 * Writes a test file for mocha that imports all files of a suite as one bundle. Loading the modules one by one would
 * take each suite three seconds longer.
 */
function writeSpec(suite: Suite, folder: string): string {
  const files = filesOf(suite).sort();
  const paths = [...(suite.hooks ? [join(root, suite.hooks)] : []), ...files.map((file) => join(root, 'tests', file))];
  const entry = join(folder, 'suite.ts');
  writeFileSync(entry, paths.map((path) => `import ${JSON.stringify(path)};\n`).join(''));
  const spec = join(folder, 'suite.mjs');
  const source = pathToFileURL(join(root, 'app/process/source.mjs')).href;
  writeFileSync(spec, `import { importSource } from '${source}';\nawait importSource(${JSON.stringify(entry)});\n`);
  return spec;
}

interface Result extends Counts {
  output: string;
  processorSeconds: number;
}

/** Runs mocha over a suite's files. A suite that dies or hangs without counts is one failure. */
async function runMocha(suite: Suite, hear: (text: string) => void): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-tests-'));
  const file = join(folder, 'counts.json');
  try {
    const reporter = ['--reporter', 'tests/harness/reporter.cjs', '--reporter-option', `counts=${file}`];
    const color = process.stdout.isTTY ? ['--color'] : [];
    const { timeout, exit } = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8'));
    const settings = ['--no-config', '--timeout', String(timeout), ...(exit ? ['--exit'] : [])];
    const argv = [process.execPath, mocha, ...settings, ...reporter, ...color, writeSpec(suite, folder)];
    const { status, output, processorSeconds } = await run(argv, { ...suite.env, ...process.env }, hear);
    const counts = readCounts(file, output);
    if (status !== 0 && counts.failures === 0) counts.failures = 1;
    return { ...counts, output, processorSeconds };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readCounts(file: string, output: string): Counts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  } catch {
    const error = output.trimEnd().split('\n').slice(-5).join('\n');
    const failed = [{ title: 'the process of the suite ended before its tests', error }];
    return { passes: 0, failures: 1, pending: 0, failed };
  }
}

/** Runs cargo's tests and adds up the result lines. Without cargo, they are reported as skipped. */
async function runCargo(hear: (text: string) => void): Promise<Result> {
  const argv = ['cargo', 'test', '--locked', '-p', 'marketplace', '--lib'];
  const { status, output, processorSeconds } = await run(argv, process.env, hear);
  if (status === NOT_FOUND) {
    return { passes: 0, failures: 0, pending: 1, output: '  cargo is not installed: skipped\n', processorSeconds };
  }
  const lines = [...output.matchAll(/(\d+) passed; (\d+) failed; (\d+) ignored/g)];
  const sum = (index: number) => lines.reduce((total, line) => total + Number(line[index]), 0);
  const failures = status === 0 ? sum(2) : Math.max(1, sum(2));
  return { passes: sum(1), failures, pending: sum(3), output, processorSeconds };
}

/** Every test file, by path relative to tests/. */
function testFiles(): string[] {
  const files = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.test.ts')).map((file) => file.split(sep).join('/'));
}

interface Finished {
  suite: Suite;
  result: Result;
  seconds: number;
}

/** `isLive`: output is shown immediately, because no other suite runs. */
async function runSuite(suite: Suite, isLive: boolean): Promise<Finished> {
  const title = `${suite.name}: ${suite.about}`;
  console.log(isLive ? `\n== ${title}` : `-- ${suite.name} begins`);
  const started = performance.now();
  const hear = isLive ? (text: string) => void process.stdout.write(text) : () => undefined;
  const result = await (suite.folder === undefined ? runCargo(hear) : runMocha(suite, hear));
  const seconds = (performance.now() - started) / 1_000;
  const times = `${seconds.toFixed(0)} s, ${result.processorSeconds.toFixed(0)} processor s`;
  if (!isLive) console.log(`\n== ${title}\n${result.output}-- ${suite.name} has ended after ${times}`);
  return { suite, result, seconds };
}

/** Runs `lanes` suites in parallel, started in the order of the list. */
async function runAll(suites: Suite[], lanes: number): Promise<Finished[]> {
  const finished: Finished[] = [];
  const waiting = [...suites];
  const isLive = lanes === 1 || suites.length === 1;
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) finished.push(await runSuite(next, isLive));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return finished.sort((one, other) => suites.indexOf(one.suite) - suites.indexOf(other.suite));
}

/** Builds the page once if its sources have changed. Otherwise each suite that runs `npm start` would build it. */
async function buildPage(): Promise<void> {
  const argv = [process.execPath, 'scripts/run.mjs', 'app/dashboard/build.ts'];
  const { status, output } = await run(argv, process.env, () => undefined);
  if (status !== 0) throw new Error(`The page could not be built:\n${output}`);
}

/** Parses the arguments. The error says what is wrong with them. */
function readArguments(argv: string[]): { suites: Suite[]; lanes: number } {
  const { values, positionals: names } = parseArgs({
    args: argv,
    options: { lanes: { type: 'string' }, all: { type: 'boolean' } },
    allowPositionals: true,
  });
  const lanes = values.lanes === undefined ? LANES : Number(values.lanes);
  if (!Number.isInteger(lanes) || lanes < 1)
    throw new Error('--lanes must be a whole number of at least 1: the number of suites that run in parallel');
  const named = (suite: Suite, name: string) => suite.name === name || suite.folder?.startsWith(`${name}/`);
  const unknown = names.find((name) => !SUITES.some((suite) => named(suite, name)));
  if (unknown !== undefined) {
    throw new Error(`There is no suite ${unknown}. The suites are ${SUITES.map((suite) => suite.name).join(', ')}.`);
  }
  if (names.length > 0) return { suites: SUITES.filter((suite) => names.some((name) => named(suite, name))), lanes };
  return { suites: values.all ? SUITES : SUITES.filter(({ long }) => !long), lanes };
}

/** Throws if a test belongs to no suite, or a suite names a missing file. */
function requireWhole(): void {
  const files = testFiles();
  const orphan = files.find((file) => !SUITES.some(({ folder }) => folder && file.startsWith(`${folder}/`)));
  if (orphan) {
    throw new Error(`tests/${orphan} is not in the folder of a suite. Move it, or add its folder in scripts/suites/.`);
  }
  for (const { name, folder, files: only = [], without = [] } of SUITES) {
    const missing = [...only, ...without].find((file) => !files.includes(`${folder}/${file}.test.ts`));
    if (missing) throw new Error(`The suite ${name} names ${missing}, which is not a file in tests/${folder}.`);
  }
}

function printHelp(): void {
  console.log('npm test [-- [--lanes N] [SUITE ...]]    the everyday suites, or the named suites');
  console.log('npm run test:all [-- [--lanes N]]        all suites');
  for (const [title, long] of [
    ['Everyday', undefined],
    ['Long', true],
  ] as const) {
    console.log(`\n${title}:`);
    for (const suite of SUITES) if (suite.long === long) console.log(`  ${suite.name.padEnd(22)} ${suite.about}`);
  }
}

/** A row of the final table. */
function rowOf(name: string, { passes, failures, pending }: Counts, seconds: number, processorSeconds: number): string {
  const counts = `${String(passes).padStart(6)} passed ${String(failures).padStart(4)} failed ${String(pending).padStart(4)} skipped`;
  const times = `${seconds.toFixed(0).padStart(6)} s ${processorSeconds.toFixed(0).padStart(6)} processor s`;
  return `${name.padEnd(22)} ${counts} ${times}`;
}

async function main(argv: string[]): Promise<number> {
  if (argv.includes('--help')) {
    printHelp();
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
  const started = performance.now();
  if (asked.suites.length > 1) await buildPage();
  const rows: string[] = [];
  const failed: string[] = [];
  const total = { passes: 0, failures: 0, pending: 0 };
  let processorSeconds = 0;
  for (const { suite, result, seconds } of await runAll(asked.suites, asked.lanes)) {
    rows.push(rowOf(suite.name, result, seconds, result.processorSeconds));
    for (const { title, error } of result.failed ?? [])
      failed.push(`${suite.name}: ${title}\n  ${error.split('\n').slice(0, 20).join('\n  ')}`);
    total.passes += result.passes;
    total.failures += result.failures;
    total.pending += result.pending;
    processorSeconds += result.processorSeconds;
  }
  rows.push(rowOf('all', total, (performance.now() - started) / 1_000, processorSeconds));
  // Repeated at the end, because a truncated log keeps its end.
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
    for (const group of running) endGroup(group);
    process.exit(status);
  });
}
process.exit(await main(process.argv.slice(2)));
