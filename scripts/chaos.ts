// `npm run chaos -- --seeds N`: seeded runs of tests/relay/chaos, as many as wanted. Each kills the relay, breaks its node
// and lets creators misbehave while executions run, then holds every invariant against the chain.

import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Chaos, type ChaosRun, startChaos } from '../tests/relay/chaos/run.ts';

const HELP = `npm run chaos -- [options]

  --seeds N        runs (default 20)
  --minutes M      stop after so many minutes, whatever --seeds says
  --executions N   executions in a run (default 20)
  --seed S         seed of the first run (default 1); the others count up from it
  --log FILE       append what the relays print to this file
  --json           print one JSON object instead of text
  --help           this text

Exit code 0 when every invariant held, 1 when one did not (its seed is printed), 2 for wrong options.`;

/** A node remembers all that it has seen and becomes slower by it: after so many runs there is a new one. */
const RUNS_PER_NODE = 20;

interface Options {
  seeds: number;
  minutes: number;
  executions: number;
  seed: number;
  log: string | null;
  json: boolean;
}

function whole(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`--${name} must be a whole number above zero`);
  return value;
}

function readOptions(): Options | null {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean' } as const;
  const options = {
    ...{ seeds: string, minutes: string, executions: string, seed: string, log: string },
    ...{ json: boolean, help: boolean },
  };
  const { values } = parseArgs({ options });
  if (values.help) return null;
  const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
  if (!(minutes > 0)) throw new RangeError('--minutes must be above zero');
  return {
    seeds: whole('seeds', values.seeds, 20),
    minutes,
    executions: whole('executions', values.executions, 20),
    seed: whole('seed', values.seed, 1),
    log: values.log ?? null,
    json: values.json ?? false,
  };
}

function describe({ seed, plan, violations, completed, failed, ms }: ChaosRun): string {
  const trouble = [...plan.kills.map((atMs) => `killed at ${atMs}`), ...plan.faults.map(({ name }) => name)].join(', ');
  const head = `seed ${seed}: ${completed} completed, ${failed} failed, ${(ms / 1_000).toFixed(1)} s (${trouble})`;
  return [head, ...violations.map((violation) => `  ${violation}`)].join('\n');
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
  const { seeds, minutes, executions, seed: first, log, json } = options;
  const started = performance.now();
  const runs: ChaosRun[] = [];
  let chaos: Chaos | null = null;
  while (runs.length < seeds && performance.now() - started < minutes * 60_000) {
    if (runs.length % RUNS_PER_NODE === 0) {
      await chaos?.stop();
      chaos = await startChaos();
    }
    const run = await chaos!.run(first + runs.length, executions);
    runs.push(run);
    if (log) appendFileSync(log, run.log);
    if (!json) console.log(describe(run));
  }
  await chaos?.stop();
  const failed = runs.filter(({ violations }) => violations.length > 0);
  const total = {
    runs: runs.length,
    executions: runs.length * executions,
    completed: runs.reduce((sum, { completed }) => sum + completed, 0),
    kills: runs.reduce((sum, { plan }) => sum + plan.kills.length, 0),
    faults: runs.reduce((sum, { plan }) => sum + plan.faults.length, 0),
    minutes: Number(((performance.now() - started) / 60_000).toFixed(1)),
    failed: failed.map(({ seed, violations }) => ({ seed, violations })),
  };
  if (json) console.log(JSON.stringify(total));
  else {
    const { kills, faults } = total;
    console.log(
      `\n${total.runs} runs, ${total.executions} executions, ${kills} kills, ${faults} faults in ${total.minutes} min`,
    );
    console.log(
      failed.length === 0 ? 'every invariant held' : `seeds with violations: ${failed.map(({ seed }) => seed)}`,
    );
  }
  return failed.length === 0 ? 0 : 1;
}

process.exit(await main());
