/** Writes the changes of a unit of work: its rows, and the figures and agents that follow from them. */
import type { Kysely } from 'kysely';
import { deleteRows, writeRows } from '../../app/database/bulk.ts';
import type { IndexDatabase } from '../queries/tables.ts';
import { writeAgents } from './agents.ts';
import { writeStatistics } from './statistics.ts';
import { STORED, type StoredName } from './stored.ts';
import type { RowSet, Unit } from './unit.ts';

type Db = Kysely<IndexDatabase>;

export async function save(db: Db, unit: Unit): Promise<void> {
  for (const table of Object.keys(STORED) as StoredName[]) {
    await saveRows(db, unit.rows[table] as unknown as RowSet<Record<string, unknown>>);
  }
  const statistics = await writeStatistics(db, [...unit.rows.executions.changes()]);
  const listings = [...unit.rows.listings.changes()].map(({ key }) => key);
  const creators = [...unit.rows.creators.changes()].map(({ key }) => key);
  await writeAgents(db, [...listings, ...statistics], creators);
}

async function saveRows(db: Db, rows: RowSet<Record<string, unknown>>): Promise<void> {
  const { table } = rows;
  const gone: string[] = [];
  /** Grouped by the columns that differ: an update rewrites an index only if it sets that index's columns. */
  const groups = new Map<string, { columns: string[]; set: string[]; rows: unknown[][] }>();
  for (const { key, before, after } of rows.changes()) {
    if (!after) {
      gone.push(key);
      continue;
    }
    const all = Object.keys(after);
    const set = before ? all.filter((column) => before[column] !== after[column]) : [];
    if (before && set.length === 0) continue;
    const id = set.join();
    const group = groups.get(id) ?? { columns: all, set, rows: [] };
    group.rows.push(group.columns.map((column) => after[column]));
    groups.set(id, group);
  }
  for (const { columns, set, rows: values } of groups.values()) {
    // Inserting a new row fails if one exists: it was not loaded, and would be overwritten blindly.
    const conflict = set.length > 0 && { conflict: { key: table.unique, set } };
    await writeRows(db, { table: table.name, columns, ...conflict }, values);
  }
  await deleteRows(db, table.name, table.key, gone);
}
