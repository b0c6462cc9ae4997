/** Queries of the index for the relay and others. A connection that attached index.db passes `attachedIndex`. */
import { type Kysely, sql } from 'kysely';
import { countRows, readTogether } from '../../app/database/portable.ts';
import type { EventName } from '../../app/sdk/program/eventFields.ts';
import { MAX_LAG_SECONDS } from '../../app/sdk/wire/choices.ts';
import type { AttachedIndex, EventRow, GapRow, IndexDatabase } from './tables.ts';

export interface IndexProgress {
  /** The tables hold everything up to this slot. */
  slot: bigint;
  /** Unix ms of that look; old if the indexer or its node is down. */
  checked_at: bigint;
}

export interface IndexStatus {
  /** The last transaction applied; null before the first. */
  cursor: { signature: string; slot: bigint } | null;
  /** The tables hold everything up to this slot; null before the first look. */
  slot: bigint | null;
  /** Unix ms of that look; old if the indexer or its node is down. */
  checkedAt: bigint | null;
}

/** The index as read over a connection that attached it as `chain`. */
export function attachedIndex<Tables extends AttachedIndex>(views: Kysely<Tables>): Kysely<IndexDatabase> {
  // Kysely has no type for one schema of several.
  return views.withSchema('chain') as unknown as Kysely<IndexDatabase>;
}

/** Progress of the index; undefined before the indexer's first look. */
export function readProgress(index: Kysely<IndexDatabase>): Promise<IndexProgress | undefined> {
  return index.selectFrom('progress').select(['slot', 'checked_at']).executeTakeFirst();
}

/**
 * The chain's LastRestartSlot when the tables were made; null before it was read. While it differs from the chain's
 * (app/solana/lastRestart.ts), the tables may show what the chain has lost.
 */
export async function readRestartSlot(index: Kysely<IndexDatabase>): Promise<bigint | null> {
  const chain = await index.selectFrom('chain_meta').select('restart_slot').executeTakeFirst();
  return chain?.restart_slot ?? null;
}

/** Milliseconds since the indexer's last look; null before the first. */
export function lagOf(progress: IndexProgress | undefined, nowMs: number): number | null {
  return progress ? Math.max(0, nowMs - Number(progress.checked_at)) : null;
}

export const isBehind = (lagMs: number | null): boolean => lagMs === null || lagMs > MAX_LAG_SECONDS * 1_000;

/** Progress and cursor of the index. */
export async function readStatus(index: Kysely<IndexDatabase>): Promise<IndexStatus> {
  const cursor = await index.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
  const progress = await readProgress(index);
  return {
    cursor: cursor ?? null,
    slot: progress?.slot ?? null,
    checkedAt: progress?.checked_at ?? null,
  };
}

/** Slots that the index lacks, because the node had forgotten them. */
export interface PrunedSlots {
  first_slot: bigint;
  last_slot: bigint;
}

/** Slots that the node had forgotten before the index reached them, oldest first. */
export function readPruned(index: Kysely<IndexDatabase>): Promise<PrunedSlots[]> {
  return index.selectFrom('pruned_slots').selectAll().orderBy('first_slot').execute();
}

/** Transactions that the indexer could not read, oldest first: the index lacks what they did. */
export function readGaps(index: Kysely<IndexDatabase>): Promise<GapRow[]> {
  return index.selectFrom('gaps').selectAll().orderBy('slot').orderBy('signature').execute();
}

export async function countGaps(index: Kysely<IndexDatabase>): Promise<number> {
  const { gaps } = await index
    .selectFrom('gaps')
    .select(({ fn }) => fn.countAll<bigint>().as('gaps'))
    .executeTakeFirstOrThrow();
  return Number(gaps);
}

export function describePruned({ first_slot, last_slot }: PrunedSlots): string {
  return `the node no longer has the transactions of slots ${first_slot} to ${last_slot}`;
}

/** Events of what only the admin does, or the guardian in its place. The index `events_of_admin` has the same list. */
const ADMIN_EVENTS = [
  'AdminChanged',
  'ChangeApplied',
  'ChangeCancelled',
  'ChangeProposed',
  'ChangesCancelled',
  'ConfigInitialized',
  'ConfigUpdated',
  'CreatorVerificationChanged',
  'DisputeResolved',
  'RelayAuthorityRemoved',
  'TreasuryWithdrawn',
] as const satisfies readonly EventName[];

/** A list of these events, newest first. The total counts at most `counted` beyond the offset. */
export function readAdminEvents(
  index: Kysely<IndexDatabase>,
  { limit, offset }: { limit: number; offset: number },
  counted: number,
): Promise<{ rows: EventRow[]; total: number }> {
  return readTogether(index, async (moment) => {
    // Not as parameters: a database uses a partial index only for a condition that it can read.
    const names = sql.raw(ADMIN_EVENTS.map((name) => `'${name}'`).join(', '));
    const events = moment
      .selectFrom('events')
      .where(sql<boolean>`name IN (${names})`)
      .orderBy('slot', 'desc')
      .orderBy('signature', 'desc')
      .orderBy('event_index', 'desc');
    const total = await countRows(moment, events.select('slot').limit(offset + counted));
    return { rows: await events.selectAll().limit(limit).offset(offset).execute(), total };
  });
}
