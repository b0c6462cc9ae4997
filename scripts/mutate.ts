/**
 * `npm run mutate`: changes the code on the money's way one place at a time, and looks for a test that fails then.
 *
 * A check of the program is switched off in the binary of one special build, in seconds. The relay's claims, endings and
 * deposits are changed in a copy of their sources. Results are kept in target/mutants, so the next run continues from
 * there. A mutant that survived or timed out is repeated only after the tests have changed.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { compileProgram, MARKETPLACE } from './build/compile.ts';
import { BuildError, progress, run } from './build/process.ts';
import { ensureToolchain, type Toolchain } from './build/toolchain.ts';
import { findGuards, GUARD_FILE, type Guard, switchOff, withSwitches } from './mutate/guards.ts';
import type { Mutant, Verdict } from './mutate/mutant.ts';
import { findRelayMutants, type RelayMutant } from './mutate/relay.ts';
import { livingOf, type Report, Results, scoreOf, tableOf } from './mutate/results.ts';
import { findTests, judge, judgeRelay } from './mutate/tests.ts';
import { copyTree, FOLDER, readSources, rewrite, TREE } from './mutate/workspace.ts';
import { runScript, toMinutes, wholeFrom } from './options.ts';

interface Options {
  minutes: number;
  only?: Mutant['kind'];
  file: string;
  jobs: number;
  json?: true;
}

/** State shared by all parts of a run. */
interface Run {
  results: Results;
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

/** Throws unless the tests pass without a mutation. */
async function requirePassing(run: Run, what: string, test: () => Promise<Verdict>): Promise<void> {
  const id = `unchanged ${what}`;
  if (run.results.get(id)?.outcome === 'survived' && run.results.isKnown(id)) return;
  progress(`Running the tests of ${what}, unchanged ...`);
  const verdict = await test();
  run.results.set(id, verdict);
  if (verdict.outcome !== 'survived') throw new BuildError(`The tests fail before any mutation: ${verdict.by ?? ''}`);
  progress(`  passed in ${verdict.seconds} s`);
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
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
  const tests = findTests();
  const tools = await ensureToolchain();
  const { program, unitTests } = await whileRewritten(GUARD_FILE, withSwitches, async () => ({
    program: await build(tools),
    unitTests: await buildUnitTests(),
  }));
  const unchanged = join(FOLDER, 'unchanged.so');
  writeFileSync(unchanged, program);
  await requirePassing(run, 'the program', () => judge(tests, unchanged, null, null));
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
      const verdict = await judge(tests, so, guard, mutatedTests && executable);
      run.results.set(guard.id, verdict);
      tell(guard, verdict);
    }
  };
  await Promise.all(Array.from({ length: jobs }, (_, job) => work(job)));
}

/** Tests the changes of the relay's money paths one after another. */
async function mutateRelay(run: Run, mutants: RelayMutant[]): Promise<void> {
  // In the order of a hash, so that what a limited time allows is a sample of all.
  const left = mutants
    .filter((mutant) => !run.results.isKnown(mutant.id))
    .sort((a, b) => (digestOf(a.id) < digestOf(b.id) ? -1 : 1));
  progress(`${left.length} of ${mutants.length} changes of the relay to test ...`);
  for (const mutant of left) {
    if (!run.hasTime()) return;
    const { edit, tests } = mutant;
    await requirePassing(run, tests.join(', '), () => judgeRelay(tests));
    const { start, end, replacement } = edit;
    const change = (text: string) => text.slice(0, start) + replacement + text.slice(end);
    const verdict = await whileRewritten(mutant.file, change, () => judgeRelay(tests));
    run.results.set(mutant.id, verdict);
    tell(mutant, verdict);
  }
}

async function mutate({ minutes, only, file, jobs, json }: Options): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  mkdirSync(FOLDER, { recursive: true });
  const run: Run = { results: new Results(copyTree()), hasTime: () => performance.now() < end };
  const report: Report = { scores: {}, living: [] };
  const close = (kind: Mutant['kind'], mutants: Mutant[]) => {
    report.scores[kind] = scoreOf(mutants, run.results);
    report.living.push(...livingOf(mutants, run.results));
  };
  const isWanted = (mutant: Mutant) => mutant.file.includes(file);
  if (only !== 'program') {
    const mutants = findRelayMutants().filter(isWanted);
    await mutateRelay(run, mutants);
    close('relay', mutants);
  }
  if (only !== 'relay') {
    const guards = readSources().flatMap(({ file, text }) => findGuards(file, text));
    await mutateGuards(run, guards.filter(isWanted), jobs);
    close('program', guards.filter(isWanted));
  }
  console.log(json ? JSON.stringify(report, null, 2) : tableOf(report));
  if (report.living.some((mutant) => mutant.why === null)) process.exitCode = 1;
}

// Exiting also ends the running tests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
await runScript(
  new Command('npm run mutate --')
    .description(
      'Mutation testing: changes the relay and the program where they handle money, one place at a time, and runs tests until one fails. Exit code 1 if a mutant that survives is not explained.',
    )
    .option('--minutes <n>', 'start no new mutant after this time; the next run continues there', toMinutes, 60)
    .addOption(
      new Option('--only <kind>', 'relay (claims, endings, deposits) or program (every ensure!)').choices([
        'relay',
        'program',
      ]),
    )
    .option('--file <part>', 'only files with this in their path, such as settle', '')
    .option('--jobs <n>', 'number of checks of the program to test at the same time', wholeFrom(1), 1)
    .option('--json', 'print the result as one JSON object')
    .action(async (options: Options) => {
      try {
        await mutate(options);
      } catch (error) {
        if (!(error instanceof BuildError)) throw error;
        console.error(error.message);
        process.exitCode = 1;
      }
    }),
);
