/** How fast an empty index is filled from recorded history, at several sizes, and what an execution takes on disk. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@solana/web3.js';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import type { HistoricTransaction, HistoryPage } from '../app/solana/helius.ts';
import { pass } from '../indexer/ingest.ts';
import { createNotices } from '../indexer/notices.ts';
import { openIndex } from '../indexer/open.ts';
import { recordHistory } from './indexing/history.ts';
import { toTable } from './program/table.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = SIZES.slice(0, 3);
/** Transactions per answer of Helius. */
const PAGE = 100;
/** A slot after all of them. */
const HEAD = 1_000_000_000;
export const INDEX_GOAL = 10_000;

export interface IndexFigures {
  executions: number;
  /** Opened and settled, from logs to committed rows with all their indexes, into an empty index. */
  per_second: number;
  bytes_per_execution: number;
  /** Of the whole bench. */
  rss_mb: number;
}

export async function benchIndex(quick: boolean, report: (line: string) => void): Promise<IndexFigures[]> {
  const figures: IndexFigures[] = [];
  for (const size of quick ? QUICK_SIZES : SIZES) {
    report(`index: ${size} executions`);
    figures.push(await fill(size));
  }
  return figures;
}

/** What an indexer does with an empty index and a history, the node's answers made here. */
async function fill(executions: number): Promise<IndexFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-index-'));
  const path = join(folder, 'index.db');
  const { db, sqlite, close } = openIndex(path);
  try {
    let recording = 0;
    async function* history(): AsyncGenerator<HistoryPage> {
      const pages = recordHistory(PAGE);
      for (let left = executions * 2; left > 0; left -= PAGE) {
        const start = performance.now();
        const transactions: HistoricTransaction[] = pages.next().value;
        recording += performance.now() - start;
        yield { transactions, next: left > PAGE ? String(left) : null };
      }
    }
    const connection = { getSlot: async () => HEAD, getSignaturesForAddress: async () => [] };
    const start = performance.now();
    await pass({
      connection: connection as unknown as Connection,
      programId: PROGRAM_ID,
      notices: createNotices(),
      signaturePage: 1_000,
      db,
      history,
    });
    const ms = performance.now() - start - recording;
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const { count } = sqlite.prepare('SELECT count(*) AS count FROM events').get() as { count: bigint };
    if (count !== BigInt(executions * 2)) throw new Error(`${count} events were indexed, of ${executions * 2}`);
    return {
      executions,
      per_second: (executions * 1_000) / ms,
      bytes_per_execution: statSync(path).size / executions,
      rss_mb: process.memoryUsage().rss / 2 ** 20,
    };
  } finally {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
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
