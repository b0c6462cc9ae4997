/**
 * The relay of this working tree beside that of another one, in turns on the same machine, each at a chain of its own of
 * known latency: what a call takes, alone and among many, and what it costs the processor. Both have been at it for as many
 * calls whenever they are measured. Turns are short, so that what disturbs the machine for seconds meets both, and the figures
 * are of all calls together: the p99 of one turn is one of its few slowest calls, whichever turns one then looks at.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, quantile, toTable } from './program/table.ts';
import { many, type Stage, withRelay } from './relay/fakeChain.ts';

/** What one of the two takes with so many callers at once, of all its calls. */
export interface VersionFigures {
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
  /** Between these the p99 would be in 19 of 20 such measurements. */
  p99_range_ms: [number, number];
  per_second: number;
  /** Of the relay's process, per call. */
  cpu_ms: number;
}

export interface VersionsFigures {
  latency_ms: number;
  callers: { callers: number; calls: number; turns: number; before: VersionFigures; now: VersionFigures }[];
}

/** As long as two slots of a fast chain, and long beside what the relay itself does. */
const LATENCY_MS = 50;
/** Callers at once, the turns of each relay, and the calls of a turn: in all enough that a dozen are slower than the p99. */
const CALLERS = [
  { count: 1, turns: 48, calls: 25 },
  { count: 24, turns: 16, calls: 300 },
] as const;
const QUICK = [
  { count: 1, turns: 4, calls: 10 },
  { count: 24, turns: 2, calls: 120 },
] as const;
/** A turn of every so many is told of. */
const TOLD = 8;

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
      for (const { count, turns, calls } of quick ? QUICK : CALLERS) {
        const of = { before: newTaken(), now: newTaken() };
        for (let turn = 1; turn <= turns; turn += 1) {
          const order = turn % 2 === 0 ? (['now', 'before'] as const) : (['before', 'now'] as const);
          for (const name of order) await measure(stages[name], { count, calls }, of[name]);
          if (turn % TOLD !== 0 && turn !== turns) continue;
          report(`${count} at once, ${turn} turns: ${describe(figures(of.before))}; ${describe(figures(of.now))}`);
        }
        callers.push({
          callers: count,
          calls: turns * calls,
          turns,
          before: figures(of.before),
          now: figures(of.now),
        });
      }
      return { latency_ms: LATENCY_MS, callers };
    }),
  );
}

/** What all turns of one have taken together. */
interface Taken {
  callMs: number[];
  seconds: number;
  cpuMs: number;
}

const newTaken = (): Taken => ({ callMs: [], seconds: 0, cpuMs: 0 });

async function measure(stage: Stage, { count, calls }: { count: number; calls: number }, taken: Taken): Promise<void> {
  await stage.times();
  const begun = performance.now();
  taken.callMs.push(...(await many(stage.call, count, calls)));
  taken.seconds += (performance.now() - begun) / 1_000;
  taken.cpuMs += (await stage.times()).cpuMs;
}

/** A share of all calls is slower than the true p99, and how many that are in a sample spreads by this, as 1.96 deviations. */
const P99_SPREAD = 1.96 * Math.sqrt(0.99 * 0.01);

function figures({ callMs, seconds, cpuMs }: Taken): VersionFigures {
  const spread = P99_SPREAD / Math.sqrt(callMs.length);
  return {
    p50_ms: median(callMs),
    p95_ms: quantile(callMs, 0.95),
    p99_ms: quantile(callMs, 0.99),
    p99_range_ms: [quantile(callMs, 0.99 - spread), quantile(callMs, Math.min(1, 0.99 + spread))],
    per_second: callMs.length / seconds,
    cpu_ms: cpuMs / callMs.length,
  };
}

const short = (value: number): string => value.toFixed(1);

const describe = ({ p50_ms, p95_ms, p99_ms, per_second, cpu_ms }: VersionFigures): string =>
  `${short(p50_ms)} / ${short(p95_ms)} / ${short(p99_ms)} ms, ${short(per_second)}/s, ${short(cpu_ms)} ms of processor`;

const range = ({ p99_range_ms: [from, to] }: VersionFigures): string => `${short(from)} to ${short(to)}`;

export function describeVersions({ latency_ms, callers }: VersionsFigures): string {
  const lines = callers.flatMap(({ callers: count, calls, before, now }) => {
    const line = (text: string, name: Exclude<keyof VersionFigures, 'p99_range_ms'>) => {
      const change = ((now[name] / before[name] - 1) * 100).toFixed(1);
      return [`${text}, ${count} at once`, short(before[name]), short(now[name]), `${change} %`];
    };
    return [
      line(`median of ${calls} calls, ms`, 'p50_ms'),
      line('p95, ms', 'p95_ms'),
      line('p99, ms', 'p99_ms'),
      ['its range in 19 of 20', range(before), range(now), ''],
      line('calls per second', 'per_second'),
      line('processor time of a call, ms', 'cpu_ms'),
    ];
  });
  return toTable([`a paid call, chain of ${latency_ms} ms`, 'before', 'now', 'change'], lines);
}
