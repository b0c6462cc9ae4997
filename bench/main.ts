/** `npm run bench`: what a paid call costs in compute, bytes, lamports, milliseconds and memory, as one table. */
import { execSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { benchProgram } from './program.ts';
import { benchRelay, type Spread } from './relay.ts';

const HELP = `npm run bench -- [options]

  --quick        30 calls per figure in one round instead of 300 in three
  --only PART    program or relay
  --slot-ms N    slot time of the local node, default 400
  --json         the figures as one JSON object on stdout

Progress goes to stderr.`;

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));
const spread = (value: Spread): string => `${round(value.p50)} / ${round(value.p99)}`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      'slot-ms': { type: 'string', default: '400' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const report = (line: string) => console.error(line);
  const machine = {
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
    memory_gb: round(totalmem() / 2 ** 30, 0),
    node: process.version,
    commit: execSync('git rev-parse --short HEAD', { cwd: import.meta.dirname, encoding: 'utf8' }).trim(),
  };
  const program = values.only === 'relay' ? null : await benchProgram(report);
  const relay =
    values.only === 'program'
      ? null
      : await benchRelay({
          count: values.quick ? 30 : 100,
          rounds: values.quick ? 1 : 3,
          warmUp: values.quick ? 5 : 20,
          slotTimeMs: Number(values['slot-ms']),
          report,
        });
  if (values.json) {
    console.log(JSON.stringify({ machine, program, relay }, null, 2));
    return;
  }
  console.log(`${machine.cpu}, ${machine.memory_gb} GiB, Node ${machine.node}, commit ${machine.commit}\n`);
  if (program) console.log(program.table);
  if (!relay) return;
  const parts = Object.entries(relay.parts_ms).map(([part, ms]) => `${part} ${round(ms)}`);
  const rows: [string, string][] = [
    [`bare confirmed SPL transfer, ms p50 / p99 (${relay.slot_ms} ms slots)`, spread(relay.transfer_ms)],
    ['two of them, one after the other: the floor of a paid call', spread(relay.two_transfers_ms)],
    ['synchronous paid call, ms p50 / p99', spread(relay.call_ms)],
    [
      'call : transfer',
      `${round(relay.call_ms.p50 / relay.transfer_ms.p50, 2)} (goal: 2 x transfer + 60 ms = ${round(relay.transfer_ms.p50 * 2 + 60)} ms)`,
    ],
    ['its parts, median ms', parts.join(', ')],
    ["relay's own time, ms p50 / p99", spread(relay.relay_ms)],
    ...Object.entries(relay.per_second).map(([callers, rate]): [string, string] => [
      `calls per second, ${callers} at once`,
      String(round(rate)),
    ]),
    ['memory of relay and indexer, MB', String(round(relay.rss_mb, 0))],
    ['calls that failed', String(relay.failures)],
  ];
  console.log('| Figure | Value |\n|---|---|');
  for (const [name, value] of rows) console.log(`| ${name} | ${value} |`);
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error.stack);
    process.exit(1);
  },
);
