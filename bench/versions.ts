/**
 * The relay of this working tree beside that of another one, in turns on the same machine, each at a chain of its own of
 * known latency: what a call takes, alone and among many, and what it costs the processor. Both have been at it for as many
 * calls whenever they are measured, and each round begins with the other one.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, toTable } from './program/table.ts';
import { many, type Stage, withRelay } from './relay/fakeChain.ts';
import { percentiles } from './relay/percentiles.ts';

/** What one of the two takes with so many callers at once: medians of the rounds. */
export interface VersionFigures {
  p50_ms: number;
  p99_ms: number;
  per_second: number;
  /** Of the relay's process, per call. */
  cpu_ms: number;
}

export interface VersionsFigures {
  latency_ms: number;
  callers: { callers: number; calls: number; rounds: number; before: VersionFigures; now: VersionFigures }[];
}

/** As long as two slots of a fast chain, and long beside what the relay itself does. */
const LATENCY_MS = 50;
/** Callers at once, and the calls of a round: enough of them that no single one is the p99. */
const CALLERS = [
  { count: 1, calls: 300, rounds: 4 },
  { count: 24, calls: 600, rounds: 8 },
] as const;
const QUICK = [
  { count: 1, calls: 20, rounds: 2 },
  { count: 24, calls: 120, rounds: 2 },
] as const;

/** `tree` is the folder of the other working tree, with its packages. */
export async function benchVersions(tree: string, quick: boolean, report: (line: string) => void) {
  const benches = join(tree, 'bench');
  if (!existsSync(benches)) throw new Error(`${tree} is no working tree of this repository`);
  const setting = { latencyMs: LATENCY_MS, journalling: 'group', folder: tmpdir(), chainIn: 'node' } as const;
  return withRelay({ ...setting, benches }, (before) =>
    withRelay(setting, async (now): Promise<VersionsFigures> => {
      const stages = { before, now };
      for (const stage of [before, now]) await many(stage.call, 24, quick ? 120 : 2_000);
      const callers = [];
      for (const { count, calls, rounds } of quick ? QUICK : CALLERS) {
        const of = { before: [] as VersionFigures[], now: [] as VersionFigures[] };
        for (let round = 0; round < rounds; round += 1) {
          const order = round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const);
          for (const name of order) of[name].push(await measure(stages[name], count, calls));
          report(`${count} at once, round ${round + 1}: ${describe(of.before.at(-1)!)}; ${describe(of.now.at(-1)!)}`);
        }
        callers.push({ callers: count, calls, rounds, before: medians(of.before), now: medians(of.now) });
      }
      return { latency_ms: LATENCY_MS, callers };
    }),
  );
}

async function measure(stage: Stage, callers: number, calls: number): Promise<VersionFigures> {
  await stage.times();
  const begun = performance.now();
  const { p50, p99 } = percentiles(await many(stage.call, callers, calls));
  const seconds = (performance.now() - begun) / 1_000;
  const { cpuMs } = await stage.times();
  return { p50_ms: p50, p99_ms: p99, per_second: calls / seconds, cpu_ms: cpuMs / calls };
}

const FIGURES = ['p50_ms', 'p99_ms', 'per_second', 'cpu_ms'] as const;

function medians(rounds: VersionFigures[]): VersionFigures {
  const middle = (name: (typeof FIGURES)[number]) => median(rounds.map((one) => one[name]));
  return Object.fromEntries(FIGURES.map((name) => [name, middle(name)])) as unknown as VersionFigures;
}

const short = (value: number): string => value.toFixed(1);

const describe = ({ p50_ms, p99_ms, per_second, cpu_ms }: VersionFigures): string =>
  `${short(p50_ms)} / ${short(p99_ms)} ms, ${short(per_second)}/s, ${short(cpu_ms)} ms of processor`;

export function describeVersions({ latency_ms, callers }: VersionsFigures): string {
  const lines = callers.flatMap(({ callers: count, calls, rounds, before, now }) => {
    const line = (text: string, name: (typeof FIGURES)[number]) => {
      const change = ((now[name] / before[name] - 1) * 100).toFixed(1);
      return [`${text}, ${count} at once`, short(before[name]), short(now[name]), `${change} %`];
    };
    return [
      line(`median of ${calls} calls, ms, medians of ${rounds} rounds`, 'p50_ms'),
      line('p99, ms', 'p99_ms'),
      line('calls per second', 'per_second'),
      line('processor time of a call, ms', 'cpu_ms'),
    ];
  });
  return toTable([`a paid call, chain of ${latency_ms} ms`, 'before', 'now', 'change'], lines);
}
