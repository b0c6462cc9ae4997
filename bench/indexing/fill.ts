/** Fills an empty index with the given number of executions in its own process, and sends the figures to its parent. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@solana/web3.js';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import type { HistoryPage } from '../../app/solana/helius.ts';
import { pass } from '../../indexer/chain/ingest.ts';
import { createNotices } from '../../indexer/chain/notices.ts';
import { openIndex } from '../../indexer/queries/open.ts';
import type { FillFigures } from '../indexing.ts';
import { readHistory } from './history.ts';

/** Transactions per answer of Helius. */
const PAGE = 100;
/** A slot later than all of them. */
const HEAD = 1_000_000_000;
/** Executions indexed before the measurement, into a separate index, while Node still compiles the code. */
const WARM_UP = 10_000;

/** Fills an empty index from a history, as the indexer does: from logs to committed rows with all their indexes. */
async function fill(recorded: string, executions: number): Promise<FillFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-index-'));
  const path = join(folder, 'index.db');
  const { db, sqlite, close } = openIndex(path);
  try {
    async function* history(): AsyncGenerator<HistoryPage> {
      let left = executions * 2;
      for await (const transactions of readHistory(recorded, left, PAGE)) {
        left -= transactions.length;
        yield { transactions, next: left > 0 ? String(left) : null };
      }
    }
    const connection = {
      getSlot: async () => HEAD,
      getFirstAvailableBlock: async () => 0,
      getSignaturesForAddress: async () => [],
    };
    const cpu = process.cpuUsage();
    const start = performance.now();
    await pass({
      connection: connection as unknown as Connection,
      programId: PROGRAM_ID,
      notices: createNotices(),
      signaturePage: 1_000,
      db,
      history,
    });
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const { count } = sqlite.prepare('SELECT count(*) AS count FROM events').get() as { count: bigint };
    if (count !== BigInt(executions * 2)) throw new Error(`${count} events were indexed, of ${executions * 2}`);
    return {
      executions,
      per_second: (executions * 1_000) / ms,
      cpu_us: (user + system) / executions,
      bytes_per_execution: statSync(path).size / executions,
      peak_mb: process.resourceUsage().maxRSS / 1_024,
    };
  } finally {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [recorded, executions] = [process.argv[2]!, Number(process.argv[3])];
await fill(recorded, Math.min(WARM_UP, executions));
process.send?.(await fill(recorded, executions));
process.disconnect?.();
