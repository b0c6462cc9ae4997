/**
 * Gaps: transactions that the node returned and this version could not read, such as those of a new version. Anyone can
 * send one, so they stop nothing. Each start of the indexer tries them again, because the indexer may be newer now.
 */
import type { Logger } from 'pino';
import { applyLate } from './apply.ts';
import type { IngestDeps } from './ingest.ts';
import { readGaps } from './read.ts';
import { readLate } from './transactions.ts';

/** Applies the transactions that can be read now, the oldest first. `head` is the slot that the tables have reached. */
export async function closeGaps(deps: IngestDeps, head: bigint, log: Logger): Promise<void> {
  for (const gap of await readGaps(deps.db)) {
    const { signature, slot, reason } = gap;
    const item = await readLate(deps, gap, head);
    if (!item || item.content.kind === 'unreadable') {
      log.warn({ signature, slot: Number(slot) }, reason);
      continue;
    }
    await applyLate(deps.db, item);
    log.info({ signature }, 'applied a transaction that could not be read before');
  }
}
