/**
 * Checks transactions whose accounts were read after a confirmed block that was not final. A fork may drop that block
 * and keep the transaction. The rows then show a state that never existed, so the transaction must be undone and read
 * again.
 */
import { type IngestDeps, readFinalized } from './ingest.ts';
import { METHOD_NOT_FOUND, readFirstAvailable } from './listing.ts';

/** Readings checked together. */
const MOST_READINGS = 1_000;
/** Slots per request; nodes allow 500,000. */
const MOST_SLOTS = 4_000n;
/** A later block within this many slots shows that the chain continued without the block of the reading. */
const BEYOND_SLOTS = 64n;

/**
 * The slot of the oldest transaction that was read after a dropped block; null if there is none. Deletes readings that
 * are final.
 */
export async function findDroppedReading(deps: IngestDeps): Promise<bigint | null> {
  const query = deps.db.selectFrom('readings').selectAll().orderBy('read_slot').limit(MOST_READINGS);
  const rows = await query.execute();
  const [first] = rows;
  if (!first) return null;
  const finalized = await readFinalized(deps);
  const readings = rows.filter(({ read_slot }) => read_slot - first.read_slot < MOST_SLOTS);
  const last = readings.at(-1)!.read_slot;
  const blocks = await readBlocks(deps, first.read_slot, last + BEYOND_SLOTS);
  if (blocks) {
    const [reached, known] = [blocks.at(-1) ?? -1n, new Set(blocks)];
    // Slots that the node has forgotten are final.
    const first = await readFirstAvailable(deps);
    const dropped = readings.filter(
      ({ read_slot }) => read_slot >= first && read_slot < reached && !known.has(read_slot),
    );
    const [oldest] = dropped.map(({ slot }) => slot).sort((one, other) => (one < other ? -1 : 1));
    if (oldest !== undefined) return oldest;
  }
  // Delete only up to `last`: later readings were not checked.
  await deps.db.transaction().execute(async (transaction) => {
    const final = transaction.deleteFrom('readings').where('read_slot', '<=', finalized);
    await final.where('read_slot', '<=', last).execute();
  });
  return null;
}

/** The slots of a range that have a block; null if the node has no such method, as a chain without forks may. */
async function readBlocks({ connection }: IngestDeps, from: bigint, to: bigint): Promise<bigint[] | null> {
  try {
    return (await connection.getBlocks(Number(from), Number(to), 'confirmed')).map(BigInt);
  } catch (error) {
    if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) return null;
    throw error;
  }
}
