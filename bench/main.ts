/** `npm run bench`: price, latency and rate of a call, lists at a million executions, and the weight of the page. */
import { execSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { Command, Option } from 'commander';
import { runScript, wholeFrom } from '../scripts/options.ts';
import { attackPart } from './attack.ts';
import { dashboardPart } from './dashboard.ts';
import { goalTable, round } from './figures.ts';
import { indexPart } from './indexing.ts';
import { listsPart } from './lists.ts';
import { lossesPart } from './losses.ts';
import type { Measured, Part } from './part.ts';
import { peersPart } from './peers.ts';
import { programPart } from './program.ts';
import { relayPart } from './relay.ts';
import { validatorPart } from './validator.ts';

/** They run in this order. */
const PARTS: Record<string, Part> = {
  program: programPart,
  relay: relayPart,
  attack: attackPart,
  dashboard: dashboardPart,
  index: indexPart,
  lists: listsPart,
  losses: lossesPart,
  peers: peersPart,
  validator: validatorPart,
};

interface Options {
  quick?: boolean;
  only?: string;
  peers?: true;
  slotMs: number;
  executions?: number;
  postgres?: true;
  json?: true;
}

async function bench(options: Options): Promise<void> {
  const { quick = false, peers, slotMs, executions, postgres = false, json } = options;
  const only = peers ? 'peers' : options.only;
  const report = (line: string) => console.error(line);
  const isWanted = (name: string, { onRequest }: Part) => (only === undefined ? !onRequest : only === name);
  const measured: Record<string, Measured> = {};
  for (const [name, part] of Object.entries(PARTS)) {
    if (isWanted(name, part)) measured[name] = await part.run({ quick, slotMs, executions, postgres, report });
  }
  const machine = {
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
    memory_gb: round(totalmem() / 2 ** 30, 0),
    node: process.version,
    commit: execSync('git rev-parse --short HEAD', { cwd: import.meta.dirname, encoding: 'utf8' }).trim(),
  };
  if (json) {
    const figures = Object.entries(measured).map(([name, part]) => [name, part.figures]);
    console.log(JSON.stringify({ machine, ...Object.fromEntries(figures) }, null, 2));
    return;
  }
  console.log(`${machine.cpu}, ${machine.memory_gb} GiB, Node ${machine.node}, commit ${machine.commit}`);
  const parts = Object.values(measured);
  for (const { table } of parts) console.log(`\n${table}`);
  const goals = parts.flatMap((part) => part.goals ?? []);
  if (goals.length > 0) console.log(`\n${goalTable(goals)}`);
}

const about = Object.entries(PARTS).map(
  ([name, part]) => `${name} (${part.about}${part.onRequest ? '; only on request' : ''})`,
);

await runScript(
  new Command('npm run bench --')
    .description('Measures performance, and prints which goals are met. Prints progress to stderr.')
    .option('--quick', 'quick and less precise: one round, fewer calls, and lists up to 100,000 executions')
    .addOption(new Option('--only <part>', about.join(', ')).choices(Object.keys(PARTS)))
    .option('--peers', 'the same as --only peers')
    .option('--slot-ms <n>', 'slot time of the local node', wholeFrom(1), 200)
    .option('--executions <n>', 'measure lists only with this number of executions', wholeFrom(1_000))
    .option('--postgres', 'measure lists on PostgreSQL; needs its server programs')
    .option('--json', 'print the figures as one JSON object to stdout')
    .action(bench),
);
