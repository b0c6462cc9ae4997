/**
 * Rows into index.db, whole ones and changes, from events and from accounts alike. A row is replaced only by a state that
 * is not older. A change to a row that is not there throws MissingRow, unless its account is known to be unread.
 */
import { type RawBuilder, sql, type Transaction, type UpdateResult } from 'kysely';
import type {
  ArchiveLeafRow,
  ArchiveRow,
  ConfigRow,
  CreatorRow,
  DisputeRow,
  ExecutionRow,
  GrantRow,
  IndexDatabase,
  ListingRow,
  UnreadRow,
} from './tables.ts';

type Db = Transaction<IndexDatabase>;
/** Some columns of a row, and the slot of the state that they show. */
type Change<Row> = Partial<Row> & { slot: bigint };

/** An event is about a row that is not there: the node has left out the transaction that made it. */
export class MissingRow extends Error {
  constructor(
    table: string,
    /** The account that the row is of. */
    readonly address: string,
  ) {
    super(`${table} has no row of ${address}`);
  }
}

export async function writeConfig(db: Db, row: ConfigRow): Promise<void> {
  const insert = db.insertInto('configs').values(row);
  await insert.onConflict((c) => c.column('config').doUpdateSet(row).where('configs.slot', '<=', row.slot)).execute();
}

export async function changeConfig(db: Db, config: string, change: Change<ConfigRow>): Promise<void> {
  const update = db.updateTable('configs').set(change).where('config', '=', config);
  const result = await update.where('slot', '<=', change.slot).executeTakeFirst();
  await requireRow(db, result, 'configs', 'config', config);
}

export async function writeCreator(db: Db, row: CreatorRow): Promise<void> {
  const insert = db.insertInto('creators').values(row);
  await insert.onConflict((c) => c.column('wallet').doUpdateSet(row).where('creators.slot', '<=', row.slot)).execute();
}

export async function writeListing(db: Db, row: ListingRow): Promise<void> {
  const insert = db.insertInto('listings').values(row);
  await insert.onConflict((c) => c.column('listing').doUpdateSet(row).where('listings.slot', '<=', row.slot)).execute();
}

export async function changeListing(db: Db, listing: string, change: Change<ListingRow>): Promise<void> {
  const update = db.updateTable('listings').set(change).where('listing', '=', listing);
  const result = await update.where('slot', '<=', change.slot).executeTakeFirst();
  await requireRow(db, result, 'listings', 'listing', listing);
}

export async function writeGrant(db: Db, row: GrantRow): Promise<void> {
  const insert = db.insertInto('grants').values(row);
  await insert
    .onConflict((c) => c.column('grant_address').doUpdateSet(row).where('grants.slot', '<=', row.slot))
    .execute();
}

export async function changeGrant(db: Db, address: string, change: Change<GrantRow>): Promise<void> {
  const update = db.updateTable('grants').set(change).where('grant_address', '=', address);
  const result = await update.where('slot', '<=', change.slot).executeTakeFirst();
  await requireRow(db, result, 'grants', 'grant_address', address);
}

/**
 * An execution's state; its id never recurs. What happened once and for all (signatures, position, reason, disputes) is only ever added,
 * whichever of event and account is seen first.
 */
export async function writeExecution(db: Db, row: ExecutionRow): Promise<void> {
  const { reason, open_signature, opened_slot, open_index, listing_timeout_seconds, ...rest } = row;
  const { end_signature, dispute_count, ...state } = rest;
  await db
    .insertInto('executions')
    .values({ ...rest, reason })
    .onConflict((c) => c.column('execution_id').doUpdateSet(state).where('executions.slot', '<=', row.slot))
    .execute();
  await db
    .updateTable('executions')
    .set({
      reason: sql`coalesce(reason, ${reason})`,
      end_signature: sql`coalesce(end_signature, ${end_signature})`,
      dispute_count: sql`max(dispute_count, ${dispute_count}, (
        SELECT count(*) FROM disputes WHERE disputes.record = ${row.record}))`,
      // By the version, so that a listing which was read later never says a later timeout.
      listing_timeout_seconds: sql`coalesce(listing_timeout_seconds, (
        SELECT timeout_seconds FROM listings
        WHERE listings.listing = ${row.listing} AND listings.listing_version = ${row.listing_version}))`,
    })
    .where('execution_id', '=', row.execution_id)
    .execute();
  if (open_signature !== null && opened_slot !== null) await placeExecution(db, row, open_signature, opened_slot);
}

/** Says which transaction opened it, and as which of its slot, where that is not known yet. */
async function placeExecution(db: Db, row: ExecutionRow, signature: string, slot: bigint): Promise<void> {
  const earlier = db.selectFrom('executions').where('opened_slot', '=', slot);
  await db
    .updateTable('executions')
    .set({
      open_signature: signature,
      opened_slot: slot,
      open_index: earlier.select(({ fn }) => fn.countAll<bigint>().as('count')),
    })
    .where('execution_id', '=', row.execution_id)
    .where(({ eb, or }) => or([eb('opened_slot', 'is', null), eb('open_signature', 'is not', signature)]))
    .execute();
}

/** Forgets the positions from a slot on, because its transactions are about to be applied again and in full. */
export async function forgetPositions(db: Db, fromSlot: bigint): Promise<void> {
  const forgotten = db.updateTable('executions').set({ opened_slot: null, open_index: null });
  await forgotten.where('opened_slot', '>=', fromSlot).execute();
}

export async function changeExecution(db: Db, record: string, change: Change<ExecutionRow>): Promise<void> {
  const update = db.updateTable('executions').set(change).where('record', '=', record);
  const result = await update.where('slot', '<=', change.slot).executeTakeFirst();
  await requireRow(db, result, 'executions', 'record', record);
}

/** The settle or refund of an open execution, at `settled_at`; a `reason` only for a refund. */
export async function endExecution(
  db: Db,
  record: string,
  at: { signature: string; slot: bigint },
  reason: bigint | null,
  state: Partial<ExecutionRow> & { settled_at: bigint },
): Promise<void> {
  await changeExecution(db, record, { ...state, slot: at.slot });
  await db
    .updateTable('executions')
    .set({
      reason: sql`coalesce(reason, ${reason})`,
      end_signature: sql`coalesce(end_signature, ${at.signature})`,
    })
    .where('record', '=', record)
    .execute();
  await tellUnread(db, record, { end_signature: at.signature });
}

/** A dispute's state. Its URI and that there was one are only ever added. */
export async function writeDispute(db: Db, row: DisputeRow): Promise<void> {
  const { evidence_uri, ...state } = row;
  await db
    .insertInto('disputes')
    .values(row)
    .onConflict((c) => c.column('dispute').doUpdateSet(state).where('disputes.slot', '<=', row.slot))
    .execute();
  await db
    .updateTable('disputes')
    .set({ evidence_uri: sql`coalesce(evidence_uri, ${evidence_uri})` })
    .where('dispute', '=', row.dispute)
    .execute();
  // One per record, ever.
  await db.updateTable('executions').set({ dispute_count: 1n }).where('record', '=', row.record).execute();
}

/** The bond may be said in terms of the row as it was. */
export async function changeDispute(
  db: Db,
  dispute: string,
  change: Omit<Change<DisputeRow>, 'bond'> & { bond?: bigint | RawBuilder<bigint> },
): Promise<void> {
  const update = db.updateTable('disputes').set(change).where('dispute', '=', dispute);
  const result = await update.where('slot', '<=', change.slot).executeTakeFirst();
  await requireRow(db, result, 'disputes', 'dispute', dispute);
}

/**
 * An execution as its leaf has it, which nothing changes any more. One that was never read is a row like any other from
 * now on.
 */
export async function writeArchivedExecution(db: Db, row: ExecutionRow): Promise<void> {
  const unread = db.deleteFrom('unread_accounts').where('address', '=', row.record);
  const known = await unread.returning(['open_signature', 'opened_slot', 'end_signature']).executeTakeFirst();
  await writeExecution(db, { ...row, ...known });
}

export async function writeArchive(db: Db, row: ArchiveRow): Promise<void> {
  const insert = db.insertInto('archives').values(row);
  await insert.onConflict((c) => c.column('archive').doUpdateSet(row).where('archives.slot', '<=', row.slot)).execute();
}

export async function changeArchive(db: Db, archive: string, change: Change<ArchiveRow>): Promise<void> {
  const update = db.updateTable('archives').set(change).where('archive', '=', archive);
  const result = await update.where('slot', '<=', change.slot).executeTakeFirst();
  await requireRow(db, result, 'archives', 'archive', archive);
}

/** A leaf, which is for ever. */
export async function writeLeaf(db: Db, row: ArchiveLeafRow): Promise<void> {
  const insert = db.insertInto('archive_leaves').values(row);
  await insert.onConflict((c) => c.columns(['tree', 'leaf_index']).doNothing()).execute();
}

/** Remembers that an account was made and is gone, and that nothing is known of it. */
export async function writeUnread(db: Db, row: Pick<UnreadRow, 'address' | 'slot'>): Promise<void> {
  await db
    .insertInto('unread_accounts')
    .values(row)
    .onConflict((c) => c.doNothing())
    .execute();
}

/** What transactions tell of an account that is unread; nothing where it is not. */
export async function tellUnread(db: Db, address: string, told: Partial<UnreadRow>): Promise<void> {
  await db.updateTable('unread_accounts').set(told).where('address', '=', address).execute();
}

/** Accounts of which there is a row by now are not unread any more. */
export async function forgetUnread(db: Db): Promise<void> {
  await sql`DELETE FROM unread_accounts WHERE address IN (SELECT record FROM executions)
    OR address IN (SELECT grant_address FROM grants) OR address IN (SELECT listing FROM listings)
    OR address IN (SELECT dispute FROM disputes) OR address IN (SELECT config FROM configs)
    OR address IN (SELECT archive FROM archives)`.execute(db);
}

/** An execution is opened of a listing that is there. */
export function requireListing(db: Db, listing: string): Promise<void> {
  return requireKnown(db, 'listings', 'listing', listing);
}

/** Nothing updated is right only where the row is there and newer, or where there could be none. */
async function requireRow(db: Db, result: UpdateResult, table: string, column: string, key: string): Promise<void> {
  if (result.numUpdatedRows === 0n) await requireKnown(db, table, column, key);
}

async function requireKnown(db: Db, table: string, column: string, key: string): Promise<void> {
  const { rows } = await sql<{ known: bigint }>`
    SELECT EXISTS (SELECT 1 FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${key})
      OR EXISTS (SELECT 1 FROM unread_accounts WHERE address = ${key}) AS known`.execute(db);
  if (rows[0]?.known !== 1n) throw new MissingRow(table, key);
}
