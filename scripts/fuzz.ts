/**
 * `npm run fuzz -- --runs N`: runs N random sequences of instructions against the model of tests/program/fuzz. Prints
 * how often each instruction had each outcome. Seeds count up from the first: `--seed S --runs 1` repeats one sequence.
 */
import { randomInt } from 'node:crypto';
import { Command, Option } from 'commander';
import { type Failure, Tally, trySeed } from '../tests/program/fuzz/run.ts';
import { runScript, toMinutes, wholeFrom } from './options.ts';

/** Interval between lines of progress. */
const PROGRESS_MS = 10_000;

interface Options {
  runs: number;
  minutes?: number;
  steps: number;
  seed?: number;
  json?: true;
}

/** One line per instruction and happening: the number of successes, then of each error. */
function table(tally: Tally): string {
  const rows = [...tally.outcomes].sort(([left], [right]) => left.localeCompare(right));
  const lines = rows.map(([name, outcomes]) => {
    const ended = [...outcomes].filter(([outcome]) => outcome !== 'ok').sort(([, left], [, right]) => right - left);
    const refused = ended.map(([outcome, count]) => `${outcome} ${count}`).join(', ');
    return `${name.padEnd(26)} ok ${String(tally.of(name, 'ok')).padStart(7)}  ${refused}`.trimEnd();
  });
  return lines.join('\n');
}

async function runSequences({
  runs,
  minutes = Number.POSITIVE_INFINITY,
  steps,
  seed = randomInt(2 ** 31),
  json,
}: Options): Promise<void> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1_000;
  const tally = new Tally();
  let failure: Failure | null = null;
  let told = started;
  if (!json) console.log(`seeds from ${seed}, ${steps} steps each`);
  for (let run = 0; run < runs && !failure && seconds() < minutes * 60; run += 1) {
    failure = await trySeed(seed + run, steps, tally);
    if (json || performance.now() - told < PROGRESS_MS) continue;
    told = performance.now();
    console.log(`${tally.sequences} sequences, ${tally.transactions} transactions, ${seconds().toFixed(0)} s`);
  }
  const { sequences, transactions } = tally;
  if (json) {
    const outcomes = Object.fromEntries([...tally.outcomes].map(([name, row]) => [name, Object.fromEntries(row)]));
    console.log(
      JSON.stringify({ seed, steps, sequences, transactions, seconds: seconds(), outcomes, failure }, null, 2),
    );
  } else {
    console.log(`\n${table(tally)}\n`);
    if (failure) {
      console.log(`SEED=${failure.seed} failed; to repeat it, use --seed ${failure.seed} --runs 1\n${failure.message}`);
    }
    console.log(`${sequences} sequences, ${transactions} transactions in ${seconds().toFixed(0)} s`);
  }
  process.exitCode = failure ? 1 : 0;
}

await runScript(
  new Command('npm run fuzz --')
    .description('Runs random sequences of instructions against a model of the program.')
    .option('--runs <n>', 'sequences', wholeFrom(0), 1_000)
    .option('--minutes <m>', 'stop after this many minutes, even if --runs is not reached', toMinutes)
    .option('--steps <n>', 'steps per sequence', wholeFrom(0), 60)
    .addOption(
      new Option('--seed <s>', 'seed of the first sequence (default: random; it is printed)')
        .argParser(wholeFrom(0))
        .env('SEED'),
    )
    .option('--json', 'print one JSON object instead of text')
    .addHelpText(
      'after',
      '\nExit code 0: all agreed. 1: one failed (its seed, its shrunk sequence and the difference are printed). 2: wrong options.',
    )
    .action(runSequences),
);
