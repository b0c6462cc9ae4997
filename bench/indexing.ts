/** How fast an empty index is filled from recorded history, at several sizes, and what an execution takes on disk. */
import { startChild } from './processes.ts';
import { toTable } from './program/table.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = SIZES.slice(0, 3);
/** What `npm run indexer` starts Node with. */
const INDEXER_OPTIONS = '--max-semi-space-size=64';
export const INDEX_GOAL = 10_000;

export interface IndexFigures {
  executions: number;
  /** Opened and settled, from logs to committed rows with all their indexes, into an empty index. */
  per_second: number;
  bytes_per_execution: number;
  /** Of the process in the end, what made the history included. */
  rss_mb: number;
}

export async function benchIndex(quick: boolean, report: (line: string) => void): Promise<IndexFigures[]> {
  const figures: IndexFigures[] = [];
  for (const size of quick ? QUICK_SIZES : SIZES) {
    report(`index: ${size} executions`);
    const child = await startChild<IndexFigures>('indexing/fill.ts', [String(size)], { NODE_OPTIONS: INDEXER_OPTIONS });
    await child.stop();
    figures.push(child.ready);
  }
  return figures;
}

export function describeIndex(figures: readonly IndexFigures[]): string {
  return toTable(
    ['executions in the index', 'indexed per second', 'goal', 'bytes each', 'memory, MB'],
    figures.map(({ executions, per_second, bytes_per_execution, rss_mb }) => [
      executions,
      Math.round(per_second),
      INDEX_GOAL,
      Math.round(bytes_per_execution),
      Math.round(rss_mb),
    ]),
  );
}
