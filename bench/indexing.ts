/** Measures how fast an empty index is filled from a recorded history, at several sizes, and its size on disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, toTable } from './figures.ts';
import { recordHistory } from './indexing/history.ts';
import type { Part } from './part.ts';
import { startChild } from './processes.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = SIZES.slice(0, 3);
/** Executions per second. A node delivers a few hundred. */
const GOAL = 2_000;

export interface FillFigures {
  executions: number;
  /** Executions opened and settled, from logs to committed rows with all their indexes, into an empty index. */
  per_second: number;
  /** Processor time per execution, microseconds. */
  cpu_us: number;
  bytes_per_execution: number;
  /** Peak memory of the process. */
  peak_mb: number;
}

export const indexPart: Part = {
  about: 'filling an empty index',
  async run({ quick, report }) {
    const figures = await benchIndex(quick ? QUICK_SIZES : SIZES, report);
    const { executions, per_second } = figures.at(-1)!;
    const name = `an empty index fills with ${executions.toLocaleString('en')} executions, a second`;
    return { figures, table: describe(figures), goals: [atLeast(name, GOAL, per_second)] };
  },
};

async function benchIndex(sizes: number[], report: (line: string) => void): Promise<FillFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-history-'));
  const history = join(folder, 'history');
  const figures: FillFigures[] = [];
  try {
    report('index: recording a history');
    recordHistory(history, 2 * sizes.at(-1)!);
    for (const size of sizes) {
      report(`index: ${size} executions`);
      const child = await startChild<FillFigures>('indexing/fill.ts', [history, String(size)]);
      await child.stop();
      figures.push(child.ready);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

function describe(figures: FillFigures[]): string {
  return toTable(
    ['executions in the index', 'indexed per second', 'processor, µs each', 'bytes each', 'most memory, MB'],
    figures.map(({ executions, ...each }) => [
      executions.toLocaleString('en'),
      ...[each.per_second, each.cpu_us, each.bytes_per_execution, each.peak_mb].map(Math.round),
    ]),
  );
}
