/**
 * Nodes forget old slots. If the node has forgotten slots that the index has not reached, the index continues anyway.
 * It reads every account of the program, and records the slots it lacks.
 */
import type { Kysely } from 'kysely';
import { chunks } from '../../app/process/chunks.ts';
import { applyAccounts, applyGone } from '../apply/apply.ts';
import { STORED } from '../apply/stored.ts';
import type { PrunedSlots } from '../queries/read.ts';
import type { IndexDatabase } from '../queries/tables.ts';
import { readPresentRows } from './accounts.ts';
import { dropBelow } from './backfill.ts';
import { type ListingDeps, readFirstAvailable } from './listing.ts';

export interface PrunedDeps extends ListingDeps {
  db: Kysely<IndexDatabase>;
  /** Called before accounts are read in place of forgotten slots. */
  onPruned?(slots: PrunedSlots): void;
}

/** Accounts, or rows, per database transaction. */
const PAGE = 1_000;

/** The first slot whose transactions the tables may lack. */
export async function readAwaited(db: Kysely<IndexDatabase>): Promise<bigint> {
  const progress = await db.selectFrom('progress').select('slot').executeTakeFirst();
  const cursor = await db.selectFrom('cursor').select('slot').executeTakeFirst();
  const pruned = await db
    .selectFrom('pruned_slots')
    .select('last_slot')
    .orderBy('last_slot', 'desc')
    .executeTakeFirst();
  const slots = [(progress?.slot ?? -1n) + 1n, cursor?.slot ?? 0n, (pruned?.last_slot ?? -1n) + 1n];
  return slots.reduce((most, slot) => (slot > most ? slot : most));
}

/**
 * If the node has forgotten slots from this one on, continues from the first slot that it has. Returns whether it did.
 */
export async function passOverPruned(deps: PrunedDeps, first_slot: bigint): Promise<boolean> {
  const { db, connection, programId } = deps;
  const first = await readFirstAvailable(deps);
  if (first <= first_slot) return false;
  const finalized = BigInt(await connection.getSlot('finalized'));
  const found = await connection.getProgramAccounts(programId, {
    commitment: 'finalized',
    dataSlice: { offset: 0, length: 0 },
  });
  // Without accounts, the program has no earlier transactions to lose.
  if (found.length === 0 && first_slot === 0n) return false;
  const slots = { first_slot, last_slot: first - 1n };
  deps.onPruned?.(slots);
  const addresses = found.map(({ pubkey }) => pubkey.toBase58());
  for (const some of chunks(addresses, PAGE)) {
    await applyAccounts(db, slots.last_slot, await readPresentRows({ connection }, programId, some, finalized));
  }
  await closeGone(db, slots.last_slot, new Set(addresses));
  await db.transaction().execute(async (transaction) => {
    await dropBelow(transaction, first);
    await transaction
      .insertInto('pruned_slots')
      .values(slots)
      .onConflict((c) => c.column('first_slot').doUpdateSet({ last_slot: slots.last_slot }))
      .execute();
  });
  return true;
}

/** Closes the rows of accounts that no longer exist. */
async function closeGone(db: Kysely<IndexDatabase>, slot: bigint, present: ReadonlySet<string>): Promise<void> {
  for (const table of ['grants', 'executions', 'deposits', 'disputes'] as const) {
    // TypeScript cannot follow that each table has this key column.
    const [name, key] = [table as 'grants', STORED[table].key as 'grant_address'];
    for (let last = ''; ; ) {
      const open = db.selectFrom(name).select(`${key} as address`).where('closed', '=', 0n).where(key, '>', last);
      const page = await open.orderBy(key).limit(PAGE).execute();
      if (page.length === 0) break;
      const gone = page.map(({ address }) => address).filter((address) => !present.has(address));
      if (gone.length > 0) await applyGone(db, slot, table, gone);
      last = page.at(-1)!.address;
    }
  }
}

/**
 * Removes the record of lost slots if they end before the transaction that created the marketplace: nothing was lost.
 */
export async function forgetFalseLoss(db: Kysely<IndexDatabase>): Promise<void> {
  const lost = await db.selectFrom('pruned_slots').select('last_slot').where('first_slot', '=', 0n).executeTakeFirst();
  if (!lost) return;
  const begun = db.selectFrom('events').select('slot').where('name', '=', 'ConfigInitialized');
  const beginning = await begun.executeTakeFirst();
  if (!beginning || beginning.slot <= lost.last_slot) return;
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('pruned_slots').where('first_slot', '=', 0n).execute();
  });
}
