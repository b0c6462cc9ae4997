/**
 * Runs tests against a mutant until one fails. Order for a mutant of the program: tests that name its error, generated
 * attacks on its instruction, the program's unit tests, and all tests. A mutant of the relay names its tests.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { Mutant, Verdict } from './mutant.ts';
import { FOLDER, filesBelow, TREE } from './workspace.ts';

/** Enough for all tests of the program on a busy machine. */
const LIMIT_MS = 15 * 60_000;
const MOCHA = join(createRequire(import.meta.url).resolve('mocha/package.json'), '..', 'bin', 'mocha.js');
const PROGRAM_TESTS = 'tests/program';
/** A hook that fails if a run of all tests has not produced every error. */
const COVERAGE = 'tests/program/coverage.ts';
/** The titles of its tests contain the instruction. */
const GENERATED = 'generated/generated.test.ts';

interface TestFile {
  path: string;
  text: string;
}

/** Test files that can kill a mutant, in the order of their runs. */
export function findTests(): TestFile[] {
  const paths = filesBelow(PROGRAM_TESTS).filter((path) => path.endsWith('.test.ts'));
  return paths.map((path) => ({ path, text: readFileSync(join(TREE, path), 'utf8') }));
}

/** The name of a source file's subject in tests, for example an instruction. */
function subjectOf(mutant: Mutant): string {
  return basename(mutant.file, '.rs').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Tests that name the mutant's error or are named after its file, most mentions first. */
function likely(tests: TestFile[], mutant: Mutant): TestFile[] {
  const subject = subjectOf(mutant);
  const score = ({ path, text }: TestFile) => {
    const mentions = mutant.error === null ? 0 : text.split(`'${mutant.error}'`).length - 1;
    return mentions + (basename(path).startsWith(`${subject}.`) ? 2 : 0);
  };
  const scored = tests.map((test) => ({ test, score: score(test) })).filter((entry) => entry.score > 0);
  return scored.sort((a, b) => b.score - a.score).map((entry) => entry.test);
}

interface Ended {
  code: number | null;
  output: string;
  timedOut: boolean;
}

/** Runs a command in the copy. At the time limit, kills it and all processes it started. */
function runLimited(command: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended: Ended = { code: null, output: '', timedOut: false };
    const keep = (chunk: Buffer) => {
      ended.output = (ended.output + chunk).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const end = () => {
      if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => {
      ended.timedOut = true;
      end();
    }, LIMIT_MS);
    process.once('exit', end);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      process.off('exit', end);
      resolve({ ...ended, code });
    });
  });
}

type Result = Omit<Verdict, 'seconds'>;

/** Runs these files until the first failure, the program's against the binary `so`. Mocha's `options` select tests. */
async function runMocha(paths: string[], so: string | null, options: string[] = []): Promise<Result> {
  if (paths.length === 0) return { outcome: 'survived' };
  const report = `${so ?? join(FOLDER, 'relay')}.json`;
  rmSync(report, { force: true });
  const reporter = ['--bail', '--reporter', 'json', '--reporter-option', `output=${report}`];
  const env: Record<string, string> = so === null ? {} : { PROGRAM_SO: so, VM: 'litesvm' };
  const ended = await runLimited(process.execPath, [MOCHA, ...reporter, ...options, ...paths], TREE, env);
  if (ended.timedOut) return { outcome: 'timeout' };
  if (ended.code === 0) return { outcome: 'survived' };
  let by = `the test process ended: ${/^.*Error: .*$/m.exec(ended.output)?.[0] ?? ended.output.trim().slice(-200)}`;
  try {
    const { failures } = JSON.parse(readFileSync(report, 'utf8')) as { failures: { fullTitle: string }[] };
    by = failures[0]?.fullTitle ?? by;
  } catch {
    // A crashed process leaves no report; `by` already says so.
  }
  return { outcome: 'killed', by };
}

/** Runs the program's unit tests, compiled with the mutant; `executable` is cargo's test binary. */
async function runUnitTests(executable: string): Promise<Result> {
  const ended = await runLimited(executable, ['-q'], join(TREE, 'programs/marketplace'));
  if (ended.timedOut) return { outcome: 'timeout' };
  if (ended.code === 0) return { outcome: 'survived' };
  return { outcome: 'killed', by: `unit test ${/^ {4}([\w:]+)$/m.exec(ended.output)?.[1] ?? ''}` };
}

type TestStep = () => Promise<Result> | null;

/** Runs the steps until one fails. */
async function runSteps(steps: TestStep[]): Promise<Verdict> {
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 100) / 10;
  for (const step of steps) {
    const result = await step();
    if (result && result.outcome !== 'survived') return { ...result, seconds: seconds() };
  }
  return { outcome: 'survived', seconds: seconds() };
}

/** Runs tests of the relay on the present copy, file by file. */
export const judgeRelay = (tests: string[]): Promise<Verdict> =>
  runSteps(tests.map((path) => () => runMocha([path], null)));

/**
 * Runs all tests on a mutant of the program: its binary `so`, and its unit tests if they were built. Without a mutant,
 * runs them on the unchanged program.
 */
export function judge(
  tests: TestFile[],
  so: string,
  mutant: Mutant | null,
  unitTests: string | null,
): Promise<Verdict> {
  const first = mutant ? likely(tests, mutant) : [];
  const isInstruction = mutant?.file.includes('/instructions/');
  const generated = isInstruction ? tests.filter((test) => test.path.endsWith(GENERATED)) : [];
  const title = mutant ? `\\b(${subjectOf(mutant)}|${basename(mutant.file, '.rs')})\\b` : '';
  const others = tests.filter((test) => !first.includes(test));
  const paths = (files: TestFile[]) => files.map(({ path }) => path);
  return runSteps([
    () => runMocha(paths(first), so),
    () => runMocha(paths(generated), so, title ? ['--grep', title] : []),
    () => (unitTests ? runUnitTests(unitTests) : null),
    () => runMocha(paths([...others, ...first]), so, ['--file', COVERAGE]),
  ]);
}
