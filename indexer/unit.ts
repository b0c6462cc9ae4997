/**
 * A unit of work: the rows that a page of transactions is about, in memory. They are read before (load.ts), changed by the
 * handlers, and written once after (save.ts), however often they changed. Nothing here waits for the database.
 */
import { STORED, type StoredName, type StoredRow, type StoredTable } from './stored.ts';

/** A row as it was, for a rollback. */
export interface UndoImage {
  slot: bigint;
  table: StoredName;
  key: string;
  /** Null where there was none. */
  before: object | null;
}

/** The rows of one table by their key. */
export class RowSet<Row extends object> {
  readonly table: StoredTable<Row>;
  /** Null for a key that has no row. */
  private readonly rows = new Map<string, Row | null>();
  private readonly originals = new Map<string, Row | null>();
  /** Known from the page before, which the database may not have yet. */
  private readonly carried = new Set<string>();
  private readonly onChange: (key: string, before: Row | null) => void;
  /** Every row there is was loaded. */
  private isWhole = false;

  constructor(table: StoredTable<Row>, onChange: (key: string, before: Row | null) => void) {
    this.table = table;
    this.onChange = onChange;
  }

  keyOf(row: Row): string {
    return String(row[this.table.key]);
  }

  /** Takes rows as the database has them. Without `keys` they are all that there are. */
  load(rows: readonly Row[], keys?: Iterable<string>): void {
    for (const key of keys ?? []) this.rows.set(key, null);
    for (const row of rows) {
      const key = this.keyOf(row);
      if (!this.carried.has(key)) this.rows.set(key, row);
    }
    if (!keys) this.isWhole = true;
  }

  /** Takes what the page before has changed, as it left it. */
  carry(before: RowSet<Row>): void {
    for (const key of before.originals.keys()) {
      this.rows.set(key, before.rows.get(key) ?? null);
      this.carried.add(key);
    }
  }

  isLoaded(key: string): boolean {
    return this.isWhole || this.rows.has(key);
  }

  get(key: string): Row | null {
    const row = this.rows.get(key);
    if (row !== undefined) return row;
    if (this.isWhole) return null;
    throw new Error(`${this.table.name} of ${key} were not loaded`);
  }

  /** Any row; where the table is loaded whole, null where there is none. */
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
    this.onChange(key, before);
    this.rows.set(key, row);
  }

  /** What has changed, each key once: as it is in the database, and as it is to be. */
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
      new RowSet<object>(STORED[table] as unknown as StoredTable<object>, (key, before) =>
        this.remember(table, key, before),
      ),
    ]),
  ) as unknown as { [Table in StoredName]: RowSet<StoredRow<Table>> };
  /** Records that have a dispute, of those whose execution has no row. */
  readonly disputed = new Set<string>();
  /** Executions by the slot that opened them; 0 for a slot that is not here. */
  readonly opened = new Map<bigint, bigint>();
  /** What this page has counted of them. */
  private readonly counted = new Map<bigint, bigint>();
  /** Events of this page, and transactions without any. */
  readonly seen = new Set<string>();
  readonly undo = new Map<string, UndoImage>();
  /** Of the transaction at hand; in the end the last one's. */
  slot = 0n;
  private readonly finalizedSlot: bigint;

  /** What `before` has changed counts as loaded: it may still be on its way into the tables. */
  constructor(finalizedSlot: bigint, before?: Unit | null) {
    this.finalizedSlot = finalizedSlot;
    if (!before) return;
    for (const table of Object.keys(STORED) as StoredName[]) {
      (this.rows[table] as RowSet<object>).carry(before.rows[table] as RowSet<object>);
    }
    for (const { after } of before.rows.disputes.changes()) if (after) this.disputed.add(after.record);
    for (const [slot, count] of before.counted) this.opened.set(slot, count);
  }

  /** So many executions were opened by the slot so far. */
  countOpened(slot: bigint, count: bigint): void {
    this.opened.set(slot, count);
    this.counted.set(slot, count);
  }

  private remember(table: StoredName, key: string, before: object | null): void {
    if (this.slot <= this.finalizedSlot) return;
    const id = `${this.slot} ${table} ${key}`;
    if (!this.undo.has(id)) this.undo.set(id, { slot: this.slot, table, key, before });
  }
}
