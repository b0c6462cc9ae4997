/**
 * Undoes changes of slots that the chain has dropped. A unit of work saves an image of each row before a slot first
 * changes it. Restoring the images from the newest slot to the oldest gives the old rows; figures follow from the rows.
 */
import type { Kysely } from 'kysely';
import { writeRows } from '../app/database/bulk.ts';
import { loadKeyed, loadWhole } from './load.ts';
import { save } from './save.ts';
import { STORED, type StoredName } from './stored.ts';
import type { IndexDatabase } from './tables.ts';
import { type RowSet, Unit } from './unit.ts';

type Db = Kysely<IndexDatabase>;

/**
 * Restores every table, including the cursor, to its state after this slot; only revisions keep rising. Throws
 * RangeError if that state is no longer stored: the index must then be rebuilt.
 */
export async function rollbackTo(db: Kysely<IndexDatabase>, slot: bigint): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const floor = await readFloor(transaction);
    if (slot < floor)
      throw new RangeError(`cannot roll the index back to slot ${slot}: the oldest possible slot is ${floor}`);
    const query = transaction.selectFrom('undo').selectAll().where('slot', '>', slot).orderBy('slot', 'desc');
    const images = await query.execute();
    const unit = new Unit(slot);
    for (const table of Object.keys(STORED) as StoredName[]) {
      const keys = new Set(images.flatMap((image) => (image.table_name === table ? image.row_key : [])));
      if (keys.size === 0) continue;
      if (table === 'cursor') await loadWhole(transaction, unit, table);
      else await loadKeyed(transaction, unit, table, keys);
    }
    for (const { table_name, row_key, image } of images) {
      const rows = unit.rows[table_name as StoredName] as unknown as RowSet<object>;
      if (image === null) rows.remove(row_key);
      else rows.put(rowOf(image, rows.get(row_key)));
    }
    await save(transaction, unit);
    await transaction.deleteFrom('events').where('slot', '>', slot).execute();
    await transaction.deleteFrom('eventless_transactions').where('slot', '>', slot).execute();
    await transaction.deleteFrom('gaps').where('slot', '>', slot).execute();
    await transaction.deleteFrom('undo').where('slot', '>', slot).execute();
    await transaction.deleteFrom('readings').where('slot', '>', slot).execute();
    await transaction.updateTable('progress').set({ slot }).where('slot', '>', slot).execute();
  });
}

/** Deletes the images of slots below this one. */
export async function forgetUndo(db: Kysely<IndexDatabase>, belowSlot: bigint): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('undo').where('slot', '<', belowSlot).execute();
    await raiseFloor(transaction, belowSlot - 1n);
  });
}

/**
 * Saves images of rows that the unit of work changed above the finalized slot. A row that the slot had already changed
 * keeps its first image.
 */
export async function saveUndo(db: Db, unit: Unit): Promise<void> {
  const rows = [...unit.undo.values()].map(({ slot, table, key, before }) => [slot, table, key, imageOf(before)]);
  const columns = ['slot', 'table_name', 'row_key', 'image'];
  await writeRows(db, { table: 'undo', columns, conflict: { key: columns.slice(0, 3) } }, rows);
}

/** Marks everything at or below this slot as not undoable. */
export async function raiseFloor(db: Db, slot: bigint): Promise<void> {
  if (slot <= (await readFloor(db))) return;
  await db
    .insertInto('undo_floor')
    .values({ id: 1n, slot })
    .onConflict((c) => c.column('id').doUpdateSet({ slot }))
    .execute();
}

async function readFloor(db: Db): Promise<bigint> {
  return (await db.selectFrom('undo_floor').select('slot').executeTakeFirst())?.slot ?? -1n;
}

/** Writes each 64-bit integer as a list of one decimal text; text and null stay. */
function imageOf(row: object | null): string | null {
  return row && JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? [value.toString()] : value));
}

/** A column added after the image was made keeps its present value. */
function rowOf(image: string, now: object | null): object {
  const fields = Object.entries(JSON.parse(image) as Record<string, string | null | [string]>);
  return {
    ...now,
    ...Object.fromEntries(fields.map(([key, value]) => [key, Array.isArray(value) ? BigInt(value[0]) : value])),
  };
}
