/**
 * Transactions that were written from accounts as they were after a block that was confirmed and not final. The chain may drop
 * that block and keep the transaction, which then shows what never was: it is to be taken back and read again.
 */
import { type IngestDeps, readFinalized } from './ingest.ts';

/** Readings looked at together. */
const MOST_READINGS = 1_000;
/** Slots that one call asks for; nodes give 500,000. */
const MOST_SLOTS = 4_000n;
/** So far beyond a reading a block is looked for that shows that the chain has gone on without its own. */
const BEYOND_SLOTS = 64n;
/** Of JSON-RPC. The local node has no such call, and one chain without forks. */
const METHOD_NOT_FOUND = -32601;

/**
 * The slot of the oldest transaction that was read after a block which the chain does not have; null where there is none.
 * Readings that are final are forgotten.
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
    const dropped = readings.filter(({ read_slot }) => read_slot < reached && !known.has(read_slot));
    const [oldest] = dropped.map(({ slot }) => slot).sort((one, other) => (one < other ? -1 : 1));
    if (oldest !== undefined) return oldest;
  }
  // Later ones were not looked at.
  await deps.db.transaction().execute(async (transaction) => {
    const final = transaction.deleteFrom('readings').where('read_slot', '<=', finalized);
    await final.where('read_slot', '<=', last).execute();
  });
  return null;
}

/** The slots from one to another that have a block; null where the node cannot say. */
async function readBlocks({ connection }: IngestDeps, from: bigint, to: bigint): Promise<bigint[] | null> {
  try {
    return (await connection.getBlocks(Number(from), Number(to), 'confirmed')).map(BigInt);
  } catch (error) {
    if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) return null;
    throw error;
  }
}
