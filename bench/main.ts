/**
 * `npm run bench`: what a paid call costs in compute, bytes, lamports, milliseconds and memory, and what the page costs who
 * opens it, as tables; and with --peers what others take for theirs.
 */
import { execSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { Command, Option } from 'commander';
import { runScript, wholeFrom } from '../scripts/options.ts';
import { benchDashboard, type DashboardFigures, SCORE_GOAL, SCRIPT_GOAL_KB } from './dashboard.ts';
import { benchHolds, type HoldFigure } from './holds.ts';
import { benchIndex, describeIndex } from './indexing.ts';
import { benchLists, describeLists } from './lists.ts';
import { benchMachines, describeMachines } from './machines.ts';
import { benchNeighbours, type NeighbourFigures } from './neighbours.ts';
import { benchPeers } from './peers.ts';
import { drawFigures, readFigures } from './plot.ts';
import { toTable } from './program/table.ts';
import { benchProgram } from './program.ts';
import { benchOwnTime, benchThroughput } from './relay/fakeChain.ts';
import { benchKeyCheck, OTHER_KEYS } from './relay/keyCheck.ts';
import type { Percentiles } from './relay/percentiles.ts';
import { benchRelay, type RelayFigures } from './relay.ts';
import { benchStarts, describeStarts } from './starting.ts';
import { benchVersions, describeVersions } from './versions.ts';

const PARTS = [
  'program',
  'own',
  'relay',
  'neighbours',
  'holds',
  'dashboard',
  'index',
  'lists',
  'starts',
  'versions',
  'machines',
] as const;

/** Of any request of any stranger. */
const HOLD_GOAL_MS = 20;
/** Executions in the tables; agents are a tenth. */
const SIZES = [1_000, 10_000, 100_000, 1_000_000];

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));
const spread = (value: Percentiles): string => `${round(value.p50)} / ${round(value.p99)}`;

interface Options {
  quick?: boolean;
  only?: (typeof PARTS)[number];
  peers?: true;
  slotMs: number;
  plot?: string;
  from?: string[];
  before?: string;
  kinds: string;
  executions?: number;
  json?: true;
}

async function bench(options: Options): Promise<void> {
  const { quick = false, only, peers, slotMs, plot, from, before, kinds, executions, json } = options;
  if ((only === 'versions') !== (before !== undefined)) throw new Error('--only versions and --before go together');
  if (from && plot === undefined) throw new Error('--from needs --plot');
  if (from && plot !== undefined) {
    writeFileSync(plot, drawFigures(readFigures(from)));
    return;
  }
  const report = (line: string) => console.error(line);
  const machine = {
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
    memory_gb: round(totalmem() / 2 ** 30, 0),
    node: process.version,
    commit: execSync('git rev-parse --short HEAD', { cwd: import.meta.dirname, encoding: 'utf8' }).trim(),
  };
  if (peers) {
    const figures = await benchPeers({ seconds: quick ? 4 : 10, sequential: quick ? 10 : 40, report });
    console.log(json ? JSON.stringify({ machine, peers: figures }, null, 2) : figures.table);
    return;
  }
  const isWanted = (part: (typeof PARTS)[number]) => only === undefined || only === part;
  const program = isWanted('program') ? await benchProgram(report) : null;
  const own = isWanted('own') ? await benchOwn(quick, report) : null;
  const relay = isWanted('relay')
    ? await benchRelay({
        count: quick ? 30 : 100,
        rounds: quick ? 1 : 3,
        warmUp: quick ? 5 : 20,
        slotTimeMs: slotMs,
        report,
      })
    : null;
  const neighbours = isWanted('neighbours') ? await benchNeighbours(report) : null;
  const holds = isWanted('holds') ? await benchHolds(quick ? 1 : 3, kinds, report) : null;
  const dashboard = isWanted('dashboard') ? await benchDashboard(quick ? 1 : 3, report) : null;
  const index = isWanted('index') ? await benchIndex(quick, report) : null;
  // Filling a million takes minutes, so only who asks for it waits.
  const sizes = executions === undefined ? (quick ? SIZES.slice(0, 3) : SIZES) : [executions];
  const lists = only === 'lists' ? await benchLists(sizes, quick ? 100 : 500, kinds, report) : null;
  const starts = only === 'starts' ? await benchStarts(sizes, quick ? 1 : 3, report) : null;
  // Needs a PostgreSQL, and the machine for itself.
  const machines = only === 'machines' ? await benchMachines(quick, slotMs, report) : null;
  if (plot !== undefined) writeFileSync(plot, drawFigures({ lists, index, starts }));
  const versions = before === undefined ? null : await benchVersions(before, quick, report);
  if (json) {
    console.log(
      JSON.stringify(
        { machine, program, own, relay, neighbours, holds, dashboard, index, lists, starts, versions, machines },
        null,
        2,
      ),
    );
    return;
  }
  console.log(`${machine.cpu}, ${machine.memory_gb} GiB, Node ${machine.node}, commit ${machine.commit}\n`);
  if (program) console.log(program.table);
  if (own) console.log(`${describeOwn(own)}\n`);
  if (relay) console.log(`${describeRelay(relay)}\n`);
  if (neighbours) console.log(`${describeNeighbours(neighbours)}\n`);
  if (holds) console.log(`${describeHolds(holds)}\n`);
  if (dashboard) console.log(describeDashboard(dashboard));
  if (index) console.log(`${describeIndex(index)}\n`);
  if (lists) console.log(describeLists(lists));
  if (starts) console.log(describeStarts(starts));
  if (versions) console.log(describeVersions(versions));
  if (machines) console.log(`${describeMachines(machines)}\n`);
}

type OwnFigures = Awaited<ReturnType<typeof benchOwn>>;

async function benchOwn(quick: boolean, report: (line: string) => void) {
  report('key check');
  const keyCheck = await benchKeyCheck(quick ? 5_000 : 50_000);
  report('own time, in turns with a bare proxy');
  const time = await benchOwnTime(quick ? 200 : 2_000, quick ? 500 : 8_000);
  report('64 callers at a chain of 50 ms');
  const many = await benchThroughput({ callers: 64, calls: quick ? 500 : 5_000, latencyMs: 50 });
  return { keyCheck, time, many };
}

function describeOwn({ keyCheck, time, many }: OwnFigures): string {
  const ratio = (one: number, other: number) => `${round(one / other, 2)} : 1`;
  const cpu = (name: 'cpu_ms' | 'cpu_in_process_ms') => `${round(time[name])} / ${round(many[name])}`;
  return toTable(
    ['the relay at a chain of known latency', 'p50 / p99', 'goal'],
    [
      ['own time of a call, ms, no disk, chain in the process', spread(time.own_in_process_ms), '2 / 8'],
      ['the same at a node in another process', spread(time.own_ms), ''],
      ['whole call at a node without latency, ms', spread(time.relay_ms), ''],
      ['the same hops by a bare Express proxy, ms', spread(time.proxy_ms), ''],
      ['whole call : proxy', ratio(time.relay_ms.p50, time.proxy_ms.p50), ''],
      [`key check among ${OTHER_KEYS} keys, ms`, `${round(keyCheck.p50, 3)} / ${round(keyCheck.p99, 3)}`, '- / 0.2'],
      [
        `calls per second, ${many.callers} at once, chain of ${many.latency_ms} ms in the process`,
        round(many.per_second_in_process),
        300,
      ],
      ['their time, ms', spread(many.call_ms), ''],
      ['the same with one durable commit for each move', round(many.per_second_single), ''],
      ['grouped commits : single ones', ratio(many.per_second_in_process, many.per_second_single), ''],
      ['the same at a node in another process', round(many.per_second), ''],
      ['the same hops by the bare proxy at that node', round(many.per_second_proxy), ''],
      ['CPU of a call, ms, in the process, one by one / many at once', cpu('cpu_in_process_ms'), ''],
      ['CPU of a call, ms, at the node, one by one / many at once', cpu('cpu_ms'), ''],
    ],
  );
}

function describeRelay(relay: RelayFigures): string {
  const parts = Object.entries(relay.parts_ms).map(([part, ms]) => `${part} ${round(ms)}`);
  const goal = relay.transfer_ms.p50 * 2 + 50;
  return toTable(
    ['the relay at the local node', 'value'],
    [
      [`bare confirmed SPL transfer, ms p50 / p99 (${relay.slot_ms} ms slots)`, spread(relay.transfer_ms)],
      ['two of them, one after the other: the floor of a paid call', spread(relay.two_transfers_ms)],
      ['synchronous paid call, ms p50 / p99', spread(relay.call_ms)],
      [
        'call : transfer',
        `${round(relay.call_ms.p50 / relay.transfer_ms.p50, 2)} (goal: 2 x transfer + 50 ms = ${round(goal)} ms)`,
      ],
      ['its parts, median ms', parts.join(', ')],
      ["relay's own time, ms p50 / p99", spread(relay.relay_ms)],
      ...Object.entries(relay.per_second).map(([callers, rate]) => [
        `calls per second, ${callers} at once`,
        round(rate),
      ]),
      ['memory of relay and indexer, MB', round(relay.rss_mb, 0)],
      ['calls that failed', relay.failures],
    ],
  );
}

function describeNeighbours({ calls, misbehaviours, normal_ms, disturbed_ms }: NeighbourFigures): string {
  const ratio = (share: 'p50' | 'p99') => round(disturbed_ms[share] / normal_ms[share], 2);
  return toTable(
    [`${calls} calls of an honest agent`, 'p50 / p99', 'goal'],
    [
      ['beside another honest one, ms', spread(normal_ms), ''],
      [`beside ${misbehaviours} misbehaviours in turn, ms`, spread(disturbed_ms), ''],
      ['misbehaving : honest', `${ratio('p50')} / ${ratio('p99')}`, '- / 2'],
    ],
  );
}

function describeHolds(figures: HoldFigure[]): string {
  const worst = figures.toSorted((one, other) => other.cpu_ms - one.cpu_ms);
  return toTable(
    ['longest hold of the event loop by', 'answer', 'ms on the processor / by the clock', 'goal'],
    worst.map(({ kind, status, ms, cpu_ms }) => [kind, status, `${round(cpu_ms)} / ${round(ms)}`, HOLD_GOAL_MS]),
  );
}

function describeDashboard({ script_bytes, script_files, views }: DashboardFigures): string {
  const lost = views
    .filter((figures) => figures.lost.length > 0)
    .map(({ view, device, lost }) => `${view}, ${device}: ${lost.join('; ')}`);
  return [
    toTable(
      ['the page', 'value', 'goal'],
      [
        [`JavaScript of the first load, KB in ${script_files} files`, round(script_bytes / 1_000), SCRIPT_GOAL_KB],
        ...views.map(({ view, device, scores }) => [
          `Lighthouse ${device}, ${view}: ${Object.keys(scores).join(' / ')}`,
          Object.values(scores).join(' / '),
          SCORE_GOAL,
        ]),
      ],
    ),
    ...(lost.length > 0 ? ['', 'What cost points:', ...lost] : []),
  ].join('\n');
}

await runScript(
  new Command('npm run bench --')
    .description('Measures; what is compared is compared in one run. Progress goes to stderr.')
    .option('--quick', 'one round instead of three, with 30 calls per figure instead of 300')
    .addOption(
      new Option(
        '--only <part>',
        'program, own (the relay at a chain of known latency), relay (at the local node), neighbours (beside creators that misbehave), holds (of the event loop, by the worst requests), dashboard (bytes of the page, and Lighthouse), index (from recorded history), lists (of the API, up to a million executions; only if it is asked for), starts (of relay and indexer over as many; only if it is asked for), versions (the relay beside an older one) or machines (one relay and two, on SQLite and PostgreSQL, and failing over; only if it is asked for)',
      ).choices(PARTS),
    )
    .option(
      '--peers',
      'instead of all that, our calls beside x402 `exact`: speed, lamports, and who loses what when things fail',
    )
    .option('--slot-ms <n>', 'slot time of the local node', wholeFrom(1), 400)
    .option(
      '--before <folder>',
      'with --only versions: a working tree of an older commit, with its node_modules and target',
    )
    .option('--executions <n>', 'with lists or starts: over so many only', wholeFrom(1_000))
    .option('--kinds <text>', 'with holds or lists: only kinds of requests that have this in their name', '')
    .option('--plot <file>', 'where to draw the figures of lists, index and starts by size, as SVG')
    .option('--from <files...>', 'with --plot: files that --json has written, to be drawn instead of measuring')
    .option('--json', 'the figures as one JSON object on stdout')
    .action(bench),
);
