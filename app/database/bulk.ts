/**
 * Writes and reads many rows in few statements, on either database. Building a statement's text costs more than writing
 * its rows. So texts are cached, and the number of rows per statement is always a power of two.
 */
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { LRUCache } from 'lru-cache';
import { isPostgres } from './portable.ts';

/** A connection of the database, inside a transaction or outside. */
export type Bulk<Tables> = Kysely<Tables> | Transaction<Tables>;

/** SQLite accepts 32,766 values per statement, PostgreSQL 65,535. Beyond a few thousand, nothing is gained. */
const MAX_VALUES = 4_096;
const MAX_ROWS = 256;
/** About 10 MB. */
const MAX_TEXTS = 500;

export interface BulkTarget {
  table: string;
  columns: readonly string[];
  /**
   * The action if a row with the same key exists: set these columns to the new values, add to these columns, or with
   * neither leave the row. Without `conflict`, such a row fails the statement.
   */
  conflict?: { key: readonly string[]; set?: readonly string[]; add?: readonly string[] };
}

/** Inserts rows, each with its values in the order of the columns. */
export async function writeRows<Tables>(
  db: Bulk<Tables>,
  target: BulkTarget,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const parameter = parametersOf(db);
  const width = target.columns.length;
  const [head, tail] = [headOf(target), tailOf(target)];
  for (const chunk of chunksOf(rows, Math.floor(MAX_VALUES / width))) {
    const text = madeOnce(`${parameter(0)} ${chunk.length} ${head} ${tail}`, () => {
      const values = chunk.map((_, at) => listOf(width, (column) => parameter(at * width + column)));
      return `${head} VALUES ${values.join(', ')}${tail}`;
    });
    // `flat` takes several times as long.
    const values: unknown[] = [];
    for (const row of chunk) for (const value of row) values.push(value);
    await run(db, text, values);
  }
}

/** The rows whose column has one of these values, unordered. */
export async function readRows<Row, Tables>(
  db: Bulk<Tables>,
  table: string,
  columns: readonly string[],
  where: string,
  keys: Iterable<unknown>,
): Promise<Row[]> {
  const parameter = parametersOf(db);
  const found: Row[] = [];
  for (const chunk of chunksOf([...keys], MAX_ROWS)) {
    const text = `SELECT ${columns.join(', ')} FROM ${table} WHERE ${where} IN ${listOf(chunk.length, parameter)}`;
    found.push(...((await run(db, text, chunk)) as Row[]));
  }
  return found;
}

/** Deletes the rows whose column has one of these values. */
export async function deleteRows<Tables>(
  db: Bulk<Tables>,
  table: string,
  where: string,
  keys: Iterable<unknown>,
): Promise<void> {
  const parameter = parametersOf(db);
  for (const chunk of chunksOf([...keys], MAX_ROWS)) {
    await run(db, `DELETE FROM ${table} WHERE ${where} IN ${listOf(chunk.length, parameter)}`, chunk);
  }
}

async function run<Tables>(db: Bulk<Tables>, text: string, values: readonly unknown[]): Promise<unknown[]> {
  return (await db.executeQuery(CompiledQuery.raw(text, values as unknown[]))).rows;
}

const texts = new LRUCache<string, string>({ max: MAX_TEXTS });

/** Returns the identical string each time: the look-up of its prepared statement needs the string's cached hash. */
function madeOnce(id: string, make: () => string): string {
  let text = texts.get(id);
  if (text === undefined) {
    text = make();
    texts.set(id, text);
  }
  return text;
}

const headOf = ({ table, columns }: BulkTarget) => `INSERT INTO ${table} (${columns.join(', ')})`;

function tailOf({ table, conflict }: BulkTarget): string {
  if (!conflict) return '';
  const changes = [
    ...(conflict.set ?? []).map((column) => `${column} = excluded.${column}`),
    ...(conflict.add ?? []).map((column) => `${column} = ${table}.${column} + excluded.${column}`),
  ];
  const head = ` ON CONFLICT (${conflict.key.join(', ')}) DO`;
  return changes.length > 0 ? `${head} UPDATE SET ${changes.join(', ')}` : `${head} NOTHING`;
}

const listOf = (length: number, parameter: (at: number) => string) =>
  `(${Array.from({ length }, (_, at) => parameter(at)).join(', ')})`;

/** The database's syntax for parameters. */
function parametersOf<Tables>(db: Bulk<Tables>): (at: number) => string {
  return isPostgres(db) ? (at) => `$${at + 1}` : () => '?';
}

/** Pieces of 1, 2, 4 .. items, largest first. */
function* chunksOf<Item>(items: readonly Item[], most: number): Generator<readonly Item[]> {
  let size = 2 ** Math.floor(Math.log2(Math.min(most, MAX_ROWS)));
  for (let start = 0; start < items.length; start += size) {
    while (size > items.length - start) size /= 2;
    yield items.slice(start, start + size);
  }
}
