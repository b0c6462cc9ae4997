/** How fast an empty index is filled from recorded history, at several sizes, and what an execution takes on disk. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEvents } from '../app/sdk/program/events.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import type { HistoricTransaction } from '../app/solana/helius.ts';
import { applyPage, type ChainTransaction } from '../indexer/apply.ts';
import { openIndex } from '../indexer/open.ts';
import { recordHistory } from './indexing/history.ts';
import { toTable } from './program/table.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = SIZES.slice(0, 3);
/** Transactions per database transaction. */
const PAGE = 2_000;
export const INDEX_GOAL = 10_000;

export interface IndexFigures {
  executions: number;
  /** Opened and settled, from logs to committed rows, since the size before. */
  per_second: number;
  bytes_per_execution: number;
}

export async function benchIndex(quick: boolean, report: (line: string) => void): Promise<IndexFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-index-'));
  const path = join(folder, 'index.db');
  const { db, sqlite, close } = openIndex(path);
  try {
    const history = recordHistory(PAGE);
    const figures: IndexFigures[] = [];
    let executions = 0;
    for (const size of quick ? QUICK_SIZES : SIZES) {
      report(`index: up to ${size} executions`);
      const before = executions;
      let ms = 0;
      while (executions < size) {
        const page: HistoricTransaction[] = history.next().value!;
        const start = performance.now();
        const transactions: ChainTransaction[] = page.map(({ signature, slot, logs }) => {
          const { events } = readEvents(logs!, PROGRAM_ID);
          return { signature, slot: BigInt(slot), content: { kind: 'events', events } };
        });
        await applyPage(db, transactions, transactions.at(-1)!.slot);
        ms += performance.now() - start;
        executions += PAGE / 2;
      }
      sqlite.pragma('wal_checkpoint(TRUNCATE)');
      figures.push({
        executions,
        per_second: ((executions - before) * 1_000) / ms,
        bytes_per_execution: statSync(path).size / executions,
      });
    }
    return figures;
  } finally {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function describeIndex(figures: readonly IndexFigures[]): string {
  return toTable(
    ['executions in the index', 'indexed per second', 'goal', 'bytes each'],
    figures.map(({ executions, per_second, bytes_per_execution }) => [
      executions,
      Math.round(per_second),
      INDEX_GOAL,
      Math.round(bytes_per_execution),
    ]),
  );
}
