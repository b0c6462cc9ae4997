/** Ties the index to the chain and the program that it was made from, and to the last restart of the cluster. */
import type { Kysely } from 'kysely';
import type { IndexDatabase } from '../queries/tables.ts';

/**
 * Stores all three at the first start, and compares chain and program later. Returns why the index cannot be used, or null.
 */
export async function claimChain(
  db: Kysely<IndexDatabase>,
  chain: { genesisHash: string; programId: string; restartSlot: bigint },
): Promise<string | null> {
  const { genesisHash: genesis_hash, programId: program_id, restartSlot: restart_slot } = chain;
  const row = { id: 1n, genesis_hash, program_id, restart_slot };
  await db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('chain_meta')
      .values(row)
      .onConflict((c) => c.doNothing())
      .execute();
    await transaction.updateTable('chain_meta').set({ restart_slot }).where('restart_slot', 'is', null).execute();
  });
  const known = await db.selectFrom('chain_meta').selectAll().executeTakeFirstOrThrow();
  if (known.genesis_hash !== genesis_hash) {
    return `this index was made from the chain with genesis hash ${known.genesis_hash}, but the node's is ${genesis_hash}: delete index.db to rebuild it, or choose another DATA_DIR`;
  }
  if (known.program_id !== program_id) {
    return `this index was made for the program ${known.program_id}, not ${program_id}: delete index.db to rebuild it`;
  }
  return null;
}
