/** `npm run bench`: paid calls beside x402 `exact`, the cost of the program's instructions, and the weight of the page. */
import { execSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { Command, Option } from 'commander';
import { runScript, wholeFrom } from '../scripts/options.ts';
import { callsPart } from './calls.ts';
import { dashboardPart } from './dashboard.ts';
import { goalTable, round } from './figures.ts';
import type { Measured, Part } from './part.ts';
import { programPart } from './program.ts';

/** They run in this order. */
const PARTS: Record<string, Part> = { program: programPart, calls: callsPart, dashboard: dashboardPart };

interface Options {
  quick?: boolean;
  only?: string;
  slotMs: number;
  json?: true;
}

async function bench(options: Options): Promise<void> {
  const { quick = false, slotMs, only, json } = options;
  const report = (line: string) => console.error(line);
  const measured: Record<string, Measured> = {};
  for (const [name, part] of Object.entries(PARTS)) {
    if (only === undefined || only === name) measured[name] = await part.run({ quick, slotMs, report });
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

const about = Object.entries(PARTS).map(([name, part]) => `${name} (${part.about})`);

await runScript(
  new Command('npm run bench --')
    .description('Measures performance, and prints which goals are met. Prints progress to stderr.')
    .option('--quick', 'quick and less precise: fewer calls and rounds')
    .addOption(new Option('--only <part>', about.join(', ')).choices(Object.keys(PARTS)))
    .option('--slot-ms <n>', 'slot time of the local node', wholeFrom(1), 200)
    .option('--json', 'print the figures as one JSON object to stdout')
    .action(bench),
);
