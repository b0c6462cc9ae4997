/**
 * Gaps: transactions that the node returned and this version could not read, such as those of a new version. Anyone can
 * send one, so they stop nothing. Each start of the indexer tries them again, because the indexer may be newer now.
 */
import type { Logger } from 'pino';
import { applyLate } from './apply.ts';
import type { IngestDeps } from './ingest.ts';
import { readGaps, readProgress } from './read.ts';
import { readLate } from './transactions.ts';

/** Applies the transactions that can be read now, the oldest first. */
export async function closeGaps(deps: IngestDeps, log: Logger): Promise<void> {
  for (const gap of await readGaps(deps.db)) {
    const progress = await readProgress(deps.db);
    const item = await readLate(deps, gap, progress?.slot ?? 0n);
    if (!item) {
      log.warn({ signature: gap.signature, slot: Number(gap.slot) }, gap.reason);
      continue;
    }
    await applyLate(deps.db, item);
    log.info({ signature: gap.signature }, 'applied a transaction that could not be read before');
  }
}
