/** Ties the index to the chain and the program that it was made from. */
import type { Kysely } from 'kysely';
import type { IndexDatabase } from './tables.ts';

/**
 * Stores chain and program at the first start, and compares them later. Returns why the index cannot be used, or null.
 */
export async function claimChain(
  db: Kysely<IndexDatabase>,
  chain: { genesisHash: string; programId: string },
): Promise<string | null> {
  const row = { id: 1n, genesis_hash: chain.genesisHash, program_id: chain.programId };
  await db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('chain_meta')
      .values(row)
      .onConflict((c) => c.doNothing())
      .execute();
  });
  const known = await db.selectFrom('chain_meta').selectAll().executeTakeFirstOrThrow();
  if (known.genesis_hash !== chain.genesisHash) {
    return `this index was made from the chain with genesis hash ${known.genesis_hash}, but the node's is ${chain.genesisHash}: delete index.db to rebuild it, or choose another DATA_DIR`;
  }
  if (known.program_id !== chain.programId) {
    return `this index was made for the program ${known.program_id}, not ${chain.programId}: delete index.db to rebuild it`;
  }
  return null;
}
