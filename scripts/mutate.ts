/**
 * `npm run mutate`: removes the program's checks one at a time, and looks for a test that fails without it.
 *
 * A check in the code is switched off in the binary of one special build, in seconds. A constraint of an account is
 * removed from a copy of the source, and the program is rebuilt. Results are kept in target/mutants, so the next run
 * continues from there. A mutant that survived or timed out is repeated only after the tests have changed.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileProgram, MARKETPLACE } from './build/compile.ts';
import { BuildError, progress, run } from './build/process.ts';
import { ensureToolchain, type Toolchain } from './build/toolchain.ts';
import { type Constraint, findConstraints, shuffled, withoutConstraint } from './mutate/constraints.ts';
import { findGuards, GUARD_FILE, type Guard, switchOff, withSwitches } from './mutate/guards.ts';
import type { Mutant, Verdict } from './mutate/mutant.ts';
import { livingOf, type Report, Results, scoreOf, tableOf } from './mutate/results.ts';
import { findTests, judge } from './mutate/tests.ts';
import { copyTree, FOLDER, readSources, rewrite, TREE } from './mutate/workspace.ts';

const HELP = `Usage: npm run mutate -- [options]

Mutation testing: removes the program's checks one at a time and runs the program's tests (LiteSVM and unit tests)
until one fails. Prints a table of killed and surviving mutants; exit code 1 if a survivor is not explained.
  --minutes N        start no new mutant after N minutes (60); the next run continues there
  --only KIND        guards (every ensure! of the source) or constraints (a sample of the account constraints)
  --constraints N    number of constraints to test, of those that compile (40)
  --seed N           seed that selects the constraints (1)
  --jobs N           number of guards to test in parallel (1)
  --json             print the result as one JSON object on standard output
  --help             print this text`;

const OPTIONS = {
  minutes: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  constraints: { type: 'string', default: '40' },
  jobs: { type: 'string', default: '1' },
  only: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** State shared by all parts of a run. */
interface Run {
  tools: Toolchain;
  results: Results;
  tests: ReturnType<typeof findTests>;
  /** True while there is time for another mutant. */
  hasTime(): boolean;
}

/** Builds the present copy. Returns the program's bytes. */
async function build(tools: Toolchain): Promise<Buffer> {
  const place = { root: TREE, work: join(FOLDER, 'sbf'), output: join(FOLDER, 'built') };
  const { cluster } = await compileProgram({ ...MARKETPLACE, onBankrun: false }, tools, place);
  return cluster;
}

/** Builds the unit tests of the present copy. Returns the executable. */
async function buildUnitTests(): Promise<Buffer> {
  const cargo = ['test', '--no-run', '--locked', '-p', 'marketplace', '--lib', '--message-format', 'json'];
  const output = await run('cargo', [...cargo, '--target-dir', join(FOLDER, 'host')], { cwd: TREE });
  const executable = /"executable":"([^"]+)"/.exec(output)?.[1];
  if (!executable) throw new BuildError('cargo test did not print the path of the unit tests.');
  return readFileSync(executable);
}

/** Runs `work` while one file of the copy is changed, and returns its result. Restores the file afterwards. */
async function whileRewritten<Made>(file: string, change: (text: string) => string, work: () => Promise<Made>) {
  const text = readFileSync(join(TREE, file), 'utf8');
  try {
    rewrite(file, change(text));
    return await work();
  } finally {
    rewrite(file, text);
  }
}

/** Throws unless all tests pass on the unchanged program. */
async function requirePassing(run: Run, name: string, program: Buffer): Promise<void> {
  const id = `all ${name}`;
  if (run.results.get(id)?.outcome === 'survived' && run.results.isKnown(id)) return;
  progress(`Running all tests on the program with all ${name} ...`);
  const so = join(FOLDER, 'unchanged.so');
  writeFileSync(so, program);
  const verdict = await judge(run.tests, so, null, null);
  run.results.set(id, verdict);
  if (verdict.outcome !== 'survived') throw new BuildError(`The tests fail before any mutation: ${verdict.by ?? ''}`);
  progress(`  passed in ${verdict.seconds} s`);
}

function tell(mutant: Mutant, verdict: Verdict): void {
  const by = verdict.by ? `  by ${verdict.by.slice(0, 100)}` : '';
  progress(
    `  ${verdict.outcome} ${mutant.file}:${mutant.line} ${mutant.text.slice(0, 80)} (${verdict.seconds} s)${by}`,
  );
}

/** Tests a mutant for every check of the source. */
async function mutateGuards(run: Run, guards: Guard[], jobs: number): Promise<void> {
  const left = guards.filter((guard) => !run.results.isKnown(guard.id));
  if (left.length === 0) return;
  progress('Building the program with switches ...');
  const { program, unitTests } = await whileRewritten(GUARD_FILE, withSwitches, async () => ({
    program: await build(run.tools),
    unitTests: await buildUnitTests(),
  }));
  await requirePassing(run, 'switches', program);
  progress(`${left.length} of ${guards.length} checks to test ...`);
  const work = async (job: number) => {
    const so = join(FOLDER, `mutant-${job}.so`);
    const executable = join(FOLDER, `unit-tests-${job}`);
    while (run.hasTime()) {
      const guard = left.shift();
      if (!guard) return;
      const mutated = switchOff(program, guard.place);
      if (!mutated) {
        run.results.set(guard.id, { outcome: 'absent', seconds: 0 });
        continue;
      }
      writeFileSync(so, mutated);
      const mutatedTests = switchOff(unitTests, guard.place);
      if (mutatedTests) {
        writeFileSync(executable, mutatedTests);
        chmodSync(executable, 0o755);
      }
      const verdict = await judge(run.tests, so, guard, mutatedTests && executable);
      run.results.set(guard.id, verdict);
      tell(guard, verdict);
    }
  };
  await Promise.all(Array.from({ length: jobs }, (_, job) => work(job)));
}

/** Builds and tests the program without one constraint. */
async function tryConstraint(run: Run, constraint: Constraint): Promise<Verdict> {
  const so = join(FOLDER, 'mutant-0.so');
  try {
    const without = (text: string) => withoutConstraint(text, constraint);
    writeFileSync(so, await whileRewritten(constraint.file, without, () => build(run.tools)));
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    return { outcome: 'uncompilable', seconds: 0, by: /^error.*$/m.exec(error.message)?.[0] };
  }
  return judge(run.tests, so, constraint, null);
}

/** Tests the first `size` of the shuffled constraints that compile. Returns all that it tried. */
async function mutateConstraints(run: Run, constraints: Constraint[], size: number): Promise<Constraint[]> {
  const taken: Constraint[] = [];
  let compiled = 0;
  let ready = false;
  for (const constraint of constraints) {
    if (compiled === size) break;
    if (!run.results.isKnown(constraint.id)) {
      if (!run.hasTime()) break;
      if (!ready) {
        progress('Building the unchanged program ...');
        await requirePassing(run, 'constraints', await build(run.tools));
        ready = true;
      }
      const verdict = await tryConstraint(run, constraint);
      run.results.set(constraint.id, verdict);
      tell(constraint, verdict);
    }
    taken.push(constraint);
    if (run.results.get(constraint.id)?.outcome !== 'uncompilable') compiled += 1;
  }
  return taken;
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new BuildError(`--${name} must be a whole number, not ${text}.`);
  return value;
}

async function mutate(values: ReturnType<typeof parse>): Promise<Report> {
  const minutes = readNumber('minutes', values.minutes);
  const end = performance.now() + minutes * 60_000;
  if (values.only && !['guards', 'constraints'].includes(values.only)) {
    throw new BuildError('--only must be guards or constraints.');
  }
  mkdirSync(FOLDER, { recursive: true });
  const run: Run = {
    results: new Results(copyTree()),
    tools: await ensureToolchain(),
    tests: findTests(),
    hasTime: () => performance.now() < end,
  };
  const sources = readSources();
  const report: Report = { living: [] };
  const close = (kind: 'guards' | 'constraints', mutants: Mutant[]) => {
    report[kind] = scoreOf(mutants, run.results);
    report.living.push(...livingOf(mutants, run.results));
  };
  if (values.only !== 'constraints') {
    const guards = sources.flatMap(({ file, text }) => findGuards(file, text));
    await mutateGuards(run, guards, Math.max(1, readNumber('jobs', values.jobs)));
    close('guards', guards);
  }
  if (values.only !== 'guards') {
    const instructions = sources.filter(({ file }) => file.includes('/instructions/'));
    const constraints = instructions.flatMap(({ file, text }) => findConstraints(file, text));
    const sample = shuffled(constraints, readNumber('seed', values.seed));
    close('constraints', await mutateConstraints(run, sample, readNumber('constraints', values.constraints)));
  }
  return report;
}

function parse() {
  return parseArgs({ options: OPTIONS }).values;
}

// Exiting also ends the running tests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  const values = parse();
  if (values.help) {
    console.log(HELP);
  } else {
    const report = await mutate(values);
    console.log(values.json ? JSON.stringify(report, null, 2) : tableOf(report));
    if (report.living.some((mutant) => mutant.why === null)) process.exitCode = 1;
  }
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error;
  console.error(error instanceof BuildError || isUsage ? (error as Error).message : error);
  process.exitCode = isUsage ? 2 : 1;
}
