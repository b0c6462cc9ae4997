/** Queries that the relay and others may ask of index.db. A connection that attached the file passes `attachedIndex`. */
import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../app/database/portable.ts';
import type { AttachedIndex, IndexDatabase } from './tables.ts';

export interface IndexProgress {
  /** The tables hold everything up to this slot. */
  slot: bigint;
  /** When that was found, unix ms; old where the indexer or its node is down. */
  checked_at: bigint;
  /** Up to here the chain cannot change any more; null before that was looked at. */
  finalized_slot: bigint | null;
}

export interface IndexStatus {
  /** The last transaction applied; null before the first. */
  cursor: { signature: string; slot: bigint } | null;
  /** The tables hold everything up to this slot; null before the first look. */
  slot: bigint | null;
  /** Up to here they are final; above it a fork may still take rows back. */
  finalizedSlot: bigint | null;
  /** When that was found, unix ms; old where the indexer or its node is down. */
  checkedAt: bigint | null;
}

/** The index as it is read over a connection that attached it as `chain`. */
export function attachedIndex<Tables extends AttachedIndex>(views: Kysely<Tables>): Kysely<IndexDatabase> {
  // Kysely has no type for one schema of several.
  return views.withSchema('chain') as unknown as Kysely<IndexDatabase>;
}

/** How far the index is; undefined before the indexer has looked. */
export function readProgress(index: Kysely<IndexDatabase>): Promise<IndexProgress | undefined> {
  return index.selectFrom('progress').select(['slot', 'checked_at', 'finalized_slot']).executeTakeFirst();
}

/** An indexer that has not looked for so long is not running, or fills an empty index; it looks every few seconds. */
const MAX_LAG_MS = 30_000;

/** How long ago the indexer has looked, ms; null before it has. */
export function lagOf(progress: IndexProgress | undefined, nowMs: number): number | null {
  return progress ? Math.max(0, nowMs - Number(progress.checked_at)) : null;
}

export const isBehind = (lagMs: number | null): boolean => lagMs === null || lagMs > MAX_LAG_MS;

/** How far the index is, and by which transaction. */
export async function readStatus(index: Kysely<IndexDatabase>): Promise<IndexStatus> {
  const cursor = await index.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
  const progress = await readProgress(index);
  return {
    cursor: cursor ?? null,
    slot: progress?.slot ?? null,
    finalizedSlot: progress?.finalized_slot ?? null,
    checkedAt: progress?.checked_at ?? null,
  };
}

/** The index without which `caller_totals` are not kept either: a long first backfill makes both last, in one transaction. */
export const WITH_TOTALS = 'executions_by_caller_status';

/** Whether `caller_totals` follow from the executions. `schema` is what SQLite has attached the file as. */
export async function keepsTotals<Tables>(db: Kysely<Tables>, schema: 'main' | 'chain'): Promise<boolean> {
  if (isPostgres(db)) return true;
  const columns = await sql`SELECT name FROM pragma_index_info(${WITH_TOTALS}, ${schema})`.execute(db);
  return columns.rows.length > 0;
}
