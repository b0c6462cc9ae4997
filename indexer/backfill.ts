/**
 * What a backfill still has to do, on the disk: the list of signatures that are to be applied, or how far a history was read.
 * However long the list, only a page of it is in memory, and an indexer that was killed goes on where it was.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { writeRows } from '../app/database/bulk.ts';
import type { IndexDatabase } from './tables.ts';
import type { Listed } from './transactions.ts';

type Db = Kysely<IndexDatabase>;
export type BackfillState = Omit<IndexDatabase['backfill'], 'id'>;

export function readState(db: Db): Promise<BackfillState | undefined> {
  return db.selectFrom('backfill').select(['state', 'token', 'finalized_slot']).executeTakeFirst();
}

export async function begin(db: Db, state: 'listing' | 'history', finalizedSlot: bigint): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('listed_signatures').execute();
    await transaction.deleteFrom('backfill').execute();
    await transaction
      .insertInto('backfill')
      .values({ id: 1n, state, token: null, finalized_slot: finalizedSlot })
      .execute();
  });
}

/** There is nothing left to do, or it is to be begun anew. */
export async function end(db: Db): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('listed_signatures').execute();
    await transaction.deleteFrom('backfill').execute();
  });
}

export async function keepToken(db: Db, token: string | null): Promise<void> {
  await db.transaction().execute((transaction) => transaction.updateTable('backfill').set({ token }).execute());
}

/** Adds what is older than all that is in the list, newest first. */
export async function append(db: Db, newestFirst: readonly ConfirmedSignatureInfo[]): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const first = await transaction
      .selectFrom('listed_signatures')
      .select('position')
      .orderBy('position')
      .limit(1)
      .executeTakeFirst();
    const next = (first?.position ?? 0n) - 1n;
    const columns = ['position', 'slot', 'signature', 'failed'];
    const rows = newestFirst.map(({ signature, slot, err }, at) => [
      next - BigInt(at),
      BigInt(slot),
      signature,
      err === null ? 0n : 1n,
    ]);
    await writeRows(transaction, { table: 'listed_signatures', columns }, rows);
  });
}

/** The list is whole. */
export async function closeList(db: Db): Promise<void> {
  const applying = { state: 'applying' } as const;
  await db.transaction().execute((transaction) => transaction.updateTable('backfill').set(applying).execute());
}

export function readOldest(db: Db): Promise<{ signature: string; slot: bigint } | undefined> {
  return db
    .selectFrom('listed_signatures')
    .select(['signature', 'slot'])
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
}

/** The oldest of the list, or of what comes after this place of it. */
export async function readOldestPage(
  db: Db,
  limit: number,
  after: bigint | null,
): Promise<(Listed & { position: bigint })[]> {
  const listed = db.selectFrom('listed_signatures').selectAll().orderBy('position').limit(limit);
  const query = after === null ? listed : listed.where('position', '>', after);
  return (await query.execute()).map(({ failed, ...row }) => ({ ...row, hasFailed: failed === 1n }));
}

/** Takes everything up to this place off the list. */
export async function drop(db: Db, position: bigint): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('listed_signatures').where('position', '<=', position).execute();
  });
}

/** Takes everything up to this transaction off the list; where it is not on the list, nothing. */
export async function dropApplied(db: Db, signature: string): Promise<void> {
  const named = db.selectFrom('listed_signatures').select('position').where('signature', '=', signature);
  // From the oldest on, where it is.
  const applied = await named.orderBy('position').limit(1).executeTakeFirst();
  if (applied) await drop(db, applied.position);
}
