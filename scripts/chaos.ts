/**
 * `npm run chaos -- --seeds N`: runs tests/relay/chaos with N seeds. Each run kills the relay, breaks its node and lets
 * creators misbehave while executions run. It then checks every invariant against the chain.
 */
import { appendFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Chaos, ChaosRun } from '../tests/relay/chaos/run.ts';
import { runScript, toMinutes, wholeFrom } from './options.ts';

/** A node gets slower with every transaction it has seen, so it is replaced after this many runs. */
const RUNS_PER_NODE = 20;

interface Options {
  seeds: number;
  minutes?: number;
  executions: number;
  relays: '1' | '2';
  seed: number;
  log?: string;
  json?: true;
}

function describe({ seed, plan, violations, completed, failed, ms }: ChaosRun): string {
  const trouble = [
    ...plan.kills.map(({ victim, atMs }) => `${victim} at ${atMs}`),
    ...plan.faults.map(({ name }) => name),
  ].join(', ');
  const head = `seed ${seed}: ${completed} completed, ${failed} failed, ${(ms / 1_000).toFixed(1)} s (${trouble})`;
  return [head, ...violations.map((violation) => `  ${violation}`)].join('\n');
}

async function runSeeds({
  seeds,
  minutes = Number.POSITIVE_INFINITY,
  executions,
  relays,
  seed: first,
  log,
  json,
}: Options): Promise<void> {
  if (relays === '2') process.env.DATABASE = 'postgres';
  // The tests read DATABASE when they are loaded.
  const { startChaos } = await import('../tests/relay/chaos/run.ts');
  const started = performance.now();
  const runs: ChaosRun[] = [];
  let chaos: Chaos | null = null;
  while (runs.length < seeds && performance.now() - started < minutes * 60_000) {
    if (runs.length % RUNS_PER_NODE === 0) {
      await chaos?.stop();
      chaos = await startChaos(relays === '2' ? 2 : 1);
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
  process.exitCode = failed.length === 0 ? 0 : 1;
}

const command = new Command('npm run chaos --')
  .description('Kills the relay, injects faults into its node and lets creators misbehave while executions run.')
  .option('--seeds <n>', 'runs', wholeFrom(1), 20)
  .option('--minutes <m>', 'stop after this many minutes, even if --seeds is not reached', toMinutes)
  .option('--executions <n>', 'executions per run', wholeFrom(1), 20)
  .addOption(
    new Option(
      '--relays <n>',
      'number of relays; 2 relays share a PostgreSQL with a standby indexer, and all of them are killed',
    )
      .choices(['1', '2'])
      .default('1'),
  )
  .option('--seed <s>', 'seed of the first run; each next run adds 1', wholeFrom(1), 1)
  .option('--log <file>', 'append the output of the relays to this file')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit code 0: every invariant held. 1: one failed (its seed is printed). 2: wrong options.')
  .action(runSeeds);
await runScript(command);
