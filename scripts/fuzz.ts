// `npm run fuzz -- --runs N`: random sequences of instructions against the model of tests/program/fuzz, as many as wanted.
// Prints a table of every instruction and how often it ended how. Each sequence has a seed of its own, counted up from
// the first, so that `--seed S --runs 1` repeats exactly that one.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Failure, Tally, trySeed } from '../tests/program/fuzz/run.ts';

const HELP = `npm run fuzz -- [options]

  --runs N       sequences (default 1000)
  --minutes M    stop after so many minutes, whatever --runs says
  --steps N      steps in a sequence (default 60)
  --seed S       seed of the first sequence (default: the environment's SEED, else random; it is printed)
  --json         print one JSON object instead of text
  --help         this text

Exit code 0 when all agreed, 1 when one failed (its seed, its smallest form and what differed are printed), 2 for wrong options.`;

/** Between two lines of progress. */
const PROGRESS_MS = 10_000;

interface Options {
  runs: number;
  minutes: number;
  steps: number;
  seed: number;
  json: boolean;
}

function whole(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`--${name} must be a whole number`);
  return value;
}

function readOptions(): Options | null {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean' } as const;
  const options = { runs: string, minutes: string, steps: string, seed: string, json: boolean, help: boolean };
  const { values } = parseArgs({ options });
  if (values.help) return null;
  const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
  if (!(minutes > 0)) throw new RangeError('--minutes must be above zero');
  const seed = whole('seed', values.seed ?? process.env.SEED, randomInt(2 ** 31));
  const [runs, steps] = [whole('runs', values.runs, 1_000), whole('steps', values.steps, 60)];
  return { runs, minutes, steps, seed, json: values.json ?? false };
}

/** One line for each instruction and happening: its successes, then its refusals by number. */
function table(tally: Tally): string {
  const rows = [...tally.outcomes].sort(([left], [right]) => left.localeCompare(right));
  const lines = rows.map(([name, outcomes]) => {
    const ended = [...outcomes].filter(([outcome]) => outcome !== 'ok').sort(([, left], [, right]) => right - left);
    const refused = ended.map(([outcome, count]) => `${outcome} ${count}`).join(', ');
    return `${name.padEnd(26)} ok ${String(tally.of(name, 'ok')).padStart(7)}  ${refused}`.trimEnd();
  });
  return lines.join('\n');
}

async function main(): Promise<number> {
  let options: Options | null;
  try {
    options = readOptions();
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const { runs, minutes, steps, seed, json } = options;
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
      console.log(`SEED=${failure.seed} failed; it is repeated by --seed ${failure.seed} --runs 1\n${failure.message}`);
    }
    console.log(`${sequences} sequences, ${transactions} transactions in ${seconds().toFixed(0)} s`);
  }
  return failure ? 1 : 0;
}

process.exit(await main());
