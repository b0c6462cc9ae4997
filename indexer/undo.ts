/**
 * Takes back what changed at slots that the chain has dropped. A unit of work remembers each row as it was before a slot first
 * changed it; put back from the newest slot to the oldest, the rows are what they were. Figures follow from the rows.
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
 * Makes every table, the cursor too, what it was after the transactions of this slot. Only revisions go on. Throws RangeError
 * where that is not known any more: then the index is to be built again.
 */
export async function rollbackTo(db: Kysely<IndexDatabase>, slot: bigint): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const floor = await readFloor(transaction);
    if (slot < floor) throw new RangeError(`the index can be taken back to slot ${floor}, not to ${slot}`);
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
    await transaction.deleteFrom('undo').where('slot', '>', slot).execute();
    await transaction.deleteFrom('readings').where('slot', '>', slot).execute();
    await transaction.updateTable('progress').set({ slot }).where('slot', '>', slot).execute();
  });
}

/** Forgets how to take back what changed at slots below this one. */
export async function forgetUndo(db: Kysely<IndexDatabase>, belowSlot: bigint): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('undo').where('slot', '<', belowSlot).execute();
    await raiseFloor(transaction, belowSlot - 1n);
  });
}

/** Keeps what the unit of work has changed above the finalized slot. A row that the slot had changed before keeps its image. */
export async function saveUndo(db: Db, unit: Unit): Promise<void> {
  const rows = [...unit.undo.values()].map(({ slot, table, key, before }) => [slot, table, key, imageOf(before)]);
  const columns = ['slot', 'table_name', 'row_key', 'image'];
  await writeRows(db, { table: 'undo', columns, conflict: { key: columns.slice(0, 3) } }, rows);
}

/** Nothing at or below this slot can be taken back any more. */
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

/** 64-bit integers as lists of one decimal text; text and null as they are. */
function imageOf(row: object | null): string | null {
  return row && JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? [value.toString()] : value));
}

/** A column that came after the image was made is as the row has it now. */
function rowOf(image: string, now: object | null): object {
  const fields = Object.entries(JSON.parse(image) as Record<string, string | null | [string]>);
  return {
    ...now,
    ...Object.fromEntries(fields.map(([key, value]) => [key, Array.isArray(value) ? BigInt(value[0]) : value])),
  };
}
