/**
 * Whole rows into index.db, from events and from accounts alike. A row is replaced only by a state that is not older.
 */
import { sql, type Transaction } from 'kysely';
import type { ConfigRow, CreatorRow, ExecutionRow, GrantRow, IndexDatabase, ListingRow } from './tables.ts';

type Db = Transaction<IndexDatabase>;

export async function writeConfig(db: Db, row: ConfigRow): Promise<void> {
  const insert = db.insertInto('configs').values(row);
  await insert.onConflict((c) => c.column('config').doUpdateSet(row).where('configs.slot', '<=', row.slot)).execute();
}

export async function writeCreator(db: Db, row: CreatorRow): Promise<void> {
  const insert = db.insertInto('creators').values(row);
  await insert.onConflict((c) => c.column('wallet').doUpdateSet(row).where('creators.slot', '<=', row.slot)).execute();
}

export async function writeListing(db: Db, row: ListingRow): Promise<void> {
  const insert = db.insertInto('listings').values(row);
  await insert.onConflict((c) => c.column('listing').doUpdateSet(row).where('listings.slot', '<=', row.slot)).execute();
}

export async function writeGrant(db: Db, row: GrantRow): Promise<void> {
  const insert = db.insertInto('grants').values(row);
  await insert
    .onConflict((c) => c.column('grant_address').doUpdateSet(row).where('grants.slot', '<=', row.slot))
    .execute();
}

/**
 * An execution's state. What happened once and for all (signatures, reason, disputes) is only ever added, whichever of
 * event and account is seen first.
 */
export async function writeExecution(db: Db, row: ExecutionRow): Promise<void> {
  // A refunded record can be closed and its id opened again by the same caller: then the new one begins afresh.
  const reopened = db.deleteFrom('executions').where('execution_id', '=', row.execution_id);
  await reopened.where('opened_at', '<', row.opened_at).where('slot', '<=', row.slot).execute();
  const { reason, open_signature, end_signature, dispute_count, ...state } = row;
  await db
    .insertInto('executions')
    .values(row)
    .onConflict((c) => c.column('execution_id').doUpdateSet(state).where('executions.slot', '<=', row.slot))
    .execute();
  await db
    .updateTable('executions')
    .set({
      reason: sql`coalesce(reason, ${reason})`,
      open_signature: sql`coalesce(open_signature, ${open_signature})`,
      end_signature: sql`coalesce(end_signature, ${end_signature})`,
      dispute_count: sql`max(dispute_count, ${dispute_count})`,
    })
    .where('execution_id', '=', row.execution_id)
    .execute();
}

/** The end of an open execution. Throws where the execution is unknown. */
export async function endExecution(
  db: Db,
  executionId: string,
  at: { signature: string; slot: bigint },
  reason: bigint | null,
  state: Partial<ExecutionRow>,
): Promise<void> {
  const change = db.updateTable('executions').set({ ...state, slot: at.slot });
  await change.where('execution_id', '=', executionId).where('slot', '<=', at.slot).execute();
  const { numUpdatedRows } = await db
    .updateTable('executions')
    .set({
      reason: sql`coalesce(reason, ${reason})`,
      end_signature: sql`coalesce(end_signature, ${at.signature})`,
    })
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Error(`no execution ${executionId}`);
}
