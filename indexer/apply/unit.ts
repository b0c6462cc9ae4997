/**
 * A unit of work: the rows that a batch of transactions needs, in memory. load.ts reads them before, the handlers
 * change them, and save.ts writes each once. Nothing here waits for the database.
 */

import type { DisputeOutcomeName } from '../queries/tables.ts';
import { STORED, type StoredName, type StoredRow, type StoredTable } from './stored.ts';

/** The rows of one table by their key. */
export class RowSet<Row extends object> {
  readonly table: StoredTable<Row>;
  /** Null for a key without a row. */
  private readonly rows = new Map<string, Row | null>();
  private readonly originals = new Map<string, Row | null>();
  /** True if all rows of the table were loaded. */
  private isWhole = false;

  constructor(table: StoredTable<Row>) {
    this.table = table;
  }

  keyOf(row: Row): string {
    return String(row[this.table.key]);
  }

  /** Adds rows as the database has them. Without `keys` they are the whole table. */
  load(rows: readonly Row[], keys?: Iterable<string>): void {
    for (const key of keys ?? []) this.rows.set(key, null);
    for (const row of rows) this.rows.set(this.keyOf(row), row);
    if (!keys) this.isWhole = true;
  }

  isLoaded(key: string): boolean {
    return this.isWhole || this.rows.has(key);
  }

  get(key: string): Row | null {
    const row = this.rows.get(key);
    if (row !== undefined) return row;
    if (this.isWhole) return null;
    throw new Error(`${this.table.name} has no loaded row of ${key}`);
  }

  /** Any row; null if a wholly loaded table has none. */
  any(): Row | null {
    for (const row of this.rows.values()) if (row) return row;
    return null;
  }

  put(row: Row): void {
    this.set(this.keyOf(row), row);
  }

  remove(key: string): void {
    this.set(key, null);
  }

  private set(key: string, row: Row | null): void {
    const before = this.get(key);
    if (before === row) return;
    if (!this.originals.has(key)) this.originals.set(key, before);
    this.rows.set(key, row);
  }

  /** The changed rows, one per key: as in the database, and as they are to be. */
  *changes(): Generator<{ key: string; before: Row | null; after: Row | null }> {
    for (const [key, before] of this.originals) {
      const after = this.rows.get(key) ?? null;
      if (before !== after) yield { key, before, after };
    }
  }
}

export class Unit {
  readonly rows = Object.fromEntries(
    (Object.keys(STORED) as StoredName[]).map((table) => [
      table,
      new RowSet<object>(STORED[table] as unknown as StoredTable<object>),
    ]),
  ) as unknown as { [Table in StoredName]: RowSet<StoredRow<Table>> };
  /** The outcome of each record's dispute, of those records that have one. */
  readonly outcomes = new Map<string, DisputeOutcomeName>();
  /** Number of executions that each slot opened; a missing slot counts as 0. */
  readonly opened = new Map<bigint, bigint>();
  /** Transactions that could not be read, if the batch asks for them, and those of the batch itself. */
  gaps: { signature: string; slot: bigint }[] = [];
}
