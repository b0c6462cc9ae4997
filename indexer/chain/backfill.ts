/**
 * Stores the progress of a backfill: the list of signatures still to apply, or the position in a history.
 * Only one batch of the list is in memory. An indexer that was killed continues from the stored progress.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { writeRows } from '../../app/database/bulk.ts';
import type { IndexDatabase } from '../queries/tables.ts';
import type { Listed } from './transactions.ts';

type Db = Kysely<IndexDatabase>;
export type BackfillState = Omit<IndexDatabase['backfill'], 'id'>;

export function readState(db: Db): Promise<BackfillState | undefined> {
  return db.selectFrom('backfill').select(['state', 'token']).executeTakeFirst();
}

export async function begin(db: Db, state: 'listing' | 'history'): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('listed_signatures').execute();
    await transaction.deleteFrom('backfill').execute();
    await transaction.insertInto('backfill').values({ id: 1n, state, token: null }).execute();
  });
}

/** Ends the backfill, because it is complete or must start again. */
export async function end(db: Db): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('listed_signatures').execute();
    await transaction.deleteFrom('backfill').execute();
  });
}

export async function keepToken(db: Db, token: string | null): Promise<void> {
  await db.transaction().execute((transaction) => transaction.updateTable('backfill').set({ token }).execute());
}

/** Adds signatures older than all in the list; they come newest first. */
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

/** Marks the list as complete. */
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

/** The oldest signatures of the list. */
export async function readOldestBatch(db: Db, limit: number): Promise<Listed[]> {
  const rows = await db.selectFrom('listed_signatures').selectAll().orderBy('position').limit(limit).execute();
  return rows.map(({ failed, ...row }) => ({ ...row, hasFailed: failed === 1n }));
}

/** Removes all signatures below this slot from the list. */
export async function dropBelow(db: Db, slot: bigint): Promise<void> {
  await db.deleteFrom('listed_signatures').where('slot', '<', slot).execute();
}

/** Removes this transaction and all older ones from the list. Does nothing if it is not in the list. */
export async function dropApplied(db: Db, signature: string): Promise<void> {
  const named = db.selectFrom('listed_signatures').select('position').where('signature', '=', signature);
  // If the signature is listed twice, take the older position.
  const applied = await named.orderBy('position').limit(1).executeTakeFirst();
  if (!applied) return;
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('listed_signatures').where('position', '<=', applied.position).execute();
  });
}

/** How far a backfill has come: which transactions it lists or applies, and their slot. */
export interface Progress {
  step: 'listing' | 'applying';
  slot: bigint;
}

/** Milliseconds between two reports. */
const REPORT_MS = 10_000;

/** Logs how far a backfill has come, at its start and then every ten seconds. */
export function reportProgress(log: Logger, now = () => performance.now()): (progress: Progress) => void {
  let dueAt = Number.NEGATIVE_INFINITY;
  return ({ step, slot }) => {
    if (now() < dueAt) return;
    dueAt = now() + REPORT_MS;
    log.info({ step, slot: Number(slot) }, 'filling the index');
  };
}
