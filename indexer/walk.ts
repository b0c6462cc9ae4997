/**
 * Searches the history for transactions that the node had left out, however old. A known gap starts a search of
 * everything. Otherwise one batch is searched now and then, newest first, and the position is stored.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import { type Kysely, sql } from 'kysely';
import { chunks } from '../app/process/chunks.ts';
import { type IngestDeps, readCursor } from './ingest.ts';
import { readFirstAvailable, readPage, readPages, SignatureUnknown } from './listing.ts';
import { readFinalizedProgress, readKnown } from './reconcile.ts';
import type { IndexDatabase } from './tables.ts';

/** Slots per query. */
const SLOTS_PER_QUERY = 500;
/** Pause between the end of a walk and the next one. */
const PAUSE_MS = 6 * 3_600_000;

/** The slot of the oldest transaction that the tables lack; null if there is none. */
export async function findOldestGap(deps: IngestDeps): Promise<bigint | null> {
  const cursor = await readCursor(deps.db);
  if (!cursor) return null;
  let oldest: bigint | null = null;
  for await (const page of readPages(deps)) oldest = (await findMissing(deps.db, page, cursor.slot)) ?? oldest;
  return oldest;
}

/**
 * Compares the next batch of the walk. Starts a new walk if `isDue`, or some hours after the last one ended. Returns
 * the slot of the batch's oldest transaction that the tables lack; the walk then ends. reconcile.ts checks what is not
 * final.
 */
export async function walkOn(deps: IngestDeps, isDue: boolean): Promise<bigint | null> {
  const { db } = deps;
  const trusted = await readFinalizedProgress(db);
  if (trusted === null) return null;
  const walk = await db.selectFrom('history_walk').select(['before', 'ended_at']).executeTakeFirst();
  const endedAt = walk?.ended_at ?? null;
  if (endedAt !== null && !isDue && BigInt(Date.now()) - endedAt < PAUSE_MS) return null;
  const before = walk?.before ?? undefined;
  const page = await readPage(deps, { before }).catch((error: Error) => {
    if (error instanceof SignatureUnknown) return [];
    throw error;
  });
  const last = page.at(-1);
  if (!last) {
    // A node that does not know `before` also lists nothing older: start again from the newest. If the node forgets its
    // history, this is its end.
    const isEnd = before === undefined || (await isKnown(deps, before)) || (await readFirstAvailable(deps)) > 0n;
    await remember(db, null, isEnd);
    return null;
  }
  const slot = await findMissing(db, page, trusted + 1n);
  await remember(db, slot === null ? last.signature : null, slot !== null);
  return slot;
}

async function remember(db: Kysely<IndexDatabase>, before: string | null, hasEnded: boolean): Promise<void> {
  const walk = { id: 1n, before, ended_at: hasEnded ? BigInt(Date.now()) : null };
  await db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('history_walk')
      .values(walk)
      .onConflict((c) => c.column('id').doUpdateSet(walk))
      .execute();
  });
}

async function isKnown({ connection }: IngestDeps, signature: string): Promise<boolean> {
  const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
  return value[0] !== null;
}

/** In a batch, newest first, the slot of the oldest missing transaction below this slot; null if none. */
async function findMissing(
  db: Kysely<IndexDatabase>,
  page: readonly ConfirmedSignatureInfo[],
  belowSlot: bigint,
): Promise<bigint | null> {
  const succeeded = page.filter(({ slot, err }) => err === null && BigInt(slot) < belowSlot);
  const slots = [...new Set(succeeded.map(({ slot }) => BigInt(slot)))];
  const known = new Map<string, bigint>();
  for (const some of chunks(slots, SLOTS_PER_QUERY)) {
    for (const [signature, slot] of await readKnown(db, sql<boolean>`slot IN (${sql.join(some)})`)) {
      known.set(signature, slot);
    }
  }
  const missing = succeeded.findLast(({ signature, slot }) => known.get(signature) !== BigInt(slot));
  return missing ? BigInt(missing.slot) : null;
}
