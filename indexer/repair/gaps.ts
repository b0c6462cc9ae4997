/**
 * Gaps: transactions that the node returned and this version could not read, such as those of a new version. Anyone can
 * send one, so they stop nothing. Each start of the indexer tries them again, because the indexer may be newer now.
 */
import type { Logger } from 'pino';
import { applyLate } from '../apply/apply.ts';
import type { IngestDeps } from '../chain/ingest.ts';
import { readLate } from '../chain/transactions.ts';
import { readGaps } from '../queries/read.ts';
import type { GapRow } from '../queries/tables.ts';

/**
 * Applies the transactions that can be read now, the oldest first. One that fails waits for the next start. `head` is the
 * slot that the tables have reached.
 */
export async function closeGaps(deps: IngestDeps, head: bigint, log: Logger): Promise<void> {
  for (const gap of await readGaps(deps.db)) {
    const { signature, slot } = gap;
    const reason = await closeGap(deps, gap, head).catch((error: Error) => error.message);
    if (reason === null) log.info({ signature }, 'applied a transaction that could not be read before');
    else log.warn({ signature, slot: Number(slot) }, reason);
  }
}

/** Returns why the transaction still cannot be applied; null if it is. */
async function closeGap(deps: IngestDeps, gap: GapRow, head: bigint): Promise<string | null> {
  const item = await readLate(deps, gap, head);
  if (!item) return gap.reason;
  // If it is still unreadable, this keeps the gap and writes the archives that it may have added to.
  await applyLate(deps.db, item);
  return item.content.kind === 'unreadable' ? item.content.reason : null;
}
