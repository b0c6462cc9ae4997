/**
 * How fast an empty index is filled from recorded history, at several sizes, what an execution takes on disk, and what memory
 * it takes to be filled from a node that lists a long history.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './processes.ts';
import { toTable } from './program/table.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = SIZES.slice(0, 3);
/** What `npm run indexer` starts Node with. */
const INDEXER_OPTIONS = { NODE_OPTIONS: '--max-semi-space-size=64' };
export const INDEX_GOAL = 10_000;

export interface FillFigures {
  executions: number;
  /** Opened and settled, from logs to committed rows with all their indexes, into an empty index. */
  per_second: number;
  /** Of all threads, for each execution, microseconds. */
  cpu_us: number;
  bytes_per_execution: number;
  /** Of the process, at its largest. */
  peak_mb: number;
}

export interface WalkFigures {
  signatures: number;
  /** Before it has asked for anything. */
  started_mb: number;
  peak_mb: number;
  /** Until all are listed and applied. */
  filled_s: number;
  /** Until all are looked through once more. */
  looked_s: number;
}

export interface IndexFigures {
  fills: FillFigures[];
  walks: WalkFigures[];
}

export async function benchIndex(quick: boolean, report: (line: string) => void): Promise<IndexFigures> {
  const sizes = quick ? QUICK_SIZES : SIZES;
  return { fills: await benchFills(sizes, report), walks: await benchWalks(sizes.slice(1), report) };
}

async function benchFills(sizes: number[], report: (line: string) => void): Promise<FillFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-history-'));
  const history = join(folder, 'history');
  const figures: FillFigures[] = [];
  try {
    report('index: recording a history');
    await (await startChild('indexing/record.ts', [history, String(2 * sizes.at(-1)!)])).stop();
    for (const size of sizes) {
      report(`index: ${size} executions`);
      const child = await startChild<FillFigures>('indexing/fill.ts', [history, String(size)], INDEXER_OPTIONS);
      await child.stop();
      figures.push(child.ready);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

async function benchWalks(sizes: number[], report: (line: string) => void): Promise<WalkFigures[]> {
  const figures: WalkFigures[] = [];
  for (const size of sizes) {
    report(`index: a node that lists ${size} signatures`);
    const node = await startChild<{ port: number }>('indexing/longNode.ts', [String(size)]);
    try {
      const args = [String(node.ready.port), String(size)];
      const child = await startChild<WalkFigures>('indexing/walk.ts', args, INDEXER_OPTIONS);
      await child.stop();
      figures.push(child.ready);
    } finally {
      await node.kill();
    }
  }
  return figures;
}

export function describeIndex({ fills, walks }: IndexFigures): string {
  const filled = toTable(
    ['executions in the index', 'indexed per second', 'goal', 'processor, µs each', 'bytes each', 'most memory, MB'],
    fills.map(({ executions, per_second, cpu_us, bytes_per_execution, peak_mb }) => [
      executions,
      Math.round(per_second),
      INDEX_GOAL,
      Math.round(cpu_us),
      Math.round(bytes_per_execution),
      Math.round(peak_mb),
    ]),
  );
  const walked = toTable(
    ['signatures that a node lists', 'memory before, MB', 'most memory, MB', 'filled in, s', 'looked through in, s'],
    walks.map(({ signatures, started_mb, peak_mb, filled_s, looked_s }) => [
      signatures,
      Math.round(started_mb),
      Math.round(peak_mb),
      filled_s.toFixed(1),
      looked_s.toFixed(1),
    ]),
  );
  return `${filled}\n\n${walked}`;
}
