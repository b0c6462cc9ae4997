/**
 * Queries that the relay and others may ask of index.db. Each takes a Kysely whose tables are the index's own; a
 * connection that attached the file as `chain` passes `db.withSchema('chain')`.
 */
import type { Kysely } from 'kysely';
import type { AgentStatisticsRow, IndexDatabase } from './tables.ts';

type Db = Kysely<IndexDatabase>;

export interface IndexStatus {
  /** The last transaction applied; null before the first. */
  cursor: { signature: string; slot: bigint } | null;
  /** The tables hold everything up to this slot; null before the first look. */
  slot: bigint | null;
  /** When that was found, unix ms; old where the indexer or its node is down. */
  checkedAt: bigint | null;
}

/** How far the index is. */
export async function readStatus(db: Db): Promise<IndexStatus> {
  const cursor = await db.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
  const progress = await db.selectFrom('progress').select(['slot', 'checked_at']).executeTakeFirst();
  return { cursor: cursor ?? null, slot: progress?.slot ?? null, checkedAt: progress?.checked_at ?? null };
}

/** A listing's figures; all 0 for one that was never called. */
export async function readStatistics(db: Db, listing: string): Promise<AgentStatisticsRow> {
  const row = await db.selectFrom('agent_statistics').selectAll().where('listing', '=', listing).executeTakeFirst();
  const none = { total_executions: 0n, successful_executions: 0n, success_rate: 0, avg_execution_time_ms: 0n };
  return row ?? { listing, ...none, dispute_count: 0n };
}
