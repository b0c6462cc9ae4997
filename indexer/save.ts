/** Writes the changes of a unit of work: its rows, and the figures and revisions that follow from them. */
import type { Kysely } from 'kysely';
import { deleteRows, writeRows } from '../app/database/bulk.ts';
import { writeStatistics } from './statistics.ts';
import { STORED, type StoredName, type StoredTable } from './stored.ts';
import type { IndexDatabase } from './tables.ts';
import type { RowSet, Unit } from './unit.ts';

type Db = Kysely<IndexDatabase>;

export async function save(db: Db, unit: Unit): Promise<void> {
  for (const table of Object.keys(STORED) as StoredName[]) {
    await saveRows(db, unit.rows[table] as unknown as RowSet<Record<string, unknown>>);
  }
  const statistics = await writeStatistics(db, [...unit.rows.executions.changes()]);
  const listings = [...unit.rows.listings.changes()].map(({ key }) => key);
  const creators = [...unit.rows.creators.changes()].map(({ key }) => key);
  await stamp(db, new Set([...listings, ...statistics]), creators);
}

async function saveRows(db: Db, rows: RowSet<Record<string, unknown>>): Promise<void> {
  const { table } = rows;
  const gone: string[] = [];
  /** Grouped by the columns that differ: an update rewrites an index only if it sets that index's columns. */
  const groups = new Map<string, { set: string[]; rows: unknown[][] }>();
  for (const { key, before, after } of rows.changes()) {
    if (!after) {
      gone.push(key);
      continue;
    }
    const set = before ? table.columns.filter((column) => before[column] !== after[column]) : [];
    if (before && set.length === 0) continue;
    const id = set.join();
    const group = groups.get(id) ?? { set, rows: [] };
    group.rows.push(table.columns.map((column) => after[column]));
    groups.set(id, group);
  }
  for (const { set, rows: values } of groups.values()) await writeRows(db, targetOf(table, set), values);
  await deleteRows(db, table.name, table.key, gone);
}

/** Inserting a new row fails if one exists: it was not loaded, and would be overwritten blindly. */
function targetOf({ name, columns, unique }: StoredTable<Record<string, unknown>>, set: string[]) {
  return { table: name, columns, ...(set.length > 0 && { conflict: { key: unique, set } }) };
}

/** Gives the next revision to changed listings, and to all listings of creators whose badge changed. */
async function stamp(db: Db, listings: ReadonlySet<string>, creators: readonly string[]): Promise<void> {
  if (listings.size === 0 && creators.length === 0) return;
  const known = await db.selectFrom('catalogue_revision').select('revision').executeTakeFirstOrThrow();
  const revision = known.revision + 1n;
  await db.updateTable('catalogue_revision').set({ revision }).execute();
  const conflict = { key: ['listing'], set: ['revision'] };
  const target = { table: 'changed_agents', columns: ['listing', 'revision'], conflict };
  await writeRows(
    db,
    target,
    [...listings].map((listing) => [listing, revision]),
  );
  for (const creator of creators) {
    await db
      .insertInto('changed_agents')
      .columns(['listing', 'revision'])
      .expression((eb) =>
        eb
          .selectFrom('listings')
          .where('creator', '=', creator)
          .select(['listing', eb.cast<bigint>(eb.val(revision), 'bigint').as('revision')]),
      )
      .onConflict((c) => c.column('listing').doUpdateSet({ revision }))
      .execute();
  }
}
