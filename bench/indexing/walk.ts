/**
 * Fills an empty index from a node that lists a long history, in a process of its own: its list is kept on the disk, newest
 * first as it comes, and applied oldest first; then all of it is looked through again. Tells its parent what that takes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { connectForReading } from '../../app/solana/rpc.ts';
import { pass } from '../../indexer/ingest.ts';
import { createNotices } from '../../indexer/notices.ts';
import { openIndex } from '../../indexer/open.ts';
import { findOldestGap } from '../../indexer/walk.ts';
import type { WalkFigures } from '../indexing.ts';

async function walk(port: number, signatures: number): Promise<WalkFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-walk-'));
  const { db, close } = openIndex(join(folder, 'index.db'));
  const closing = new AbortController();
  const started_mb = process.resourceUsage().maxRSS / 1_024;
  try {
    const deps = {
      connection: connectForReading(`http://127.0.0.1:${port}`, closing.signal),
      programId: PROGRAM_ID,
      notices: createNotices(),
      signaturePage: 1_000,
      db,
    };
    const start = performance.now();
    await pass(deps);
    const filled = performance.now();
    const gap = await findOldestGap(deps);
    const looked = performance.now();
    const { count } = await db
      .selectFrom('eventless_transactions')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow();
    if (gap !== null || count !== BigInt(Math.ceil(signatures / 100))) {
      throw new Error(`${count} transactions were indexed of ${signatures} signatures, the oldest gap is ${gap}`);
    }
    return {
      signatures,
      started_mb,
      peak_mb: process.resourceUsage().maxRSS / 1_024,
      filled_s: (filled - start) / 1_000,
      looked_s: (looked - filled) / 1_000,
    };
  } finally {
    closing.abort(new Error('ended'));
    close();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.send?.(await walk(Number(process.argv[2]), Number(process.argv[3])));
process.disconnect?.();
