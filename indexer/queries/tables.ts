/** TypeScript types of the index; accounts.ts has the rows that show accounts. migrations/index documents the columns; the two change together. */

import type { Generated } from 'kysely';
import type {
  ArchiveRow,
  ConfigRow,
  CreatorRow,
  DepositRow,
  DisputeRow,
  ExecutionRow,
  ExecutionStatusName,
  Flag,
  GrantRow,
  ListingRow,
} from './accounts.ts';

export interface ArchiveLeafRow {
  tree: string;
  leaf_index: bigint;
  record: string;
  execution_id: string;
  leaf: string;
  signature: string;
  slot: bigint;
}

export interface UnclaimedRefundRow {
  /** Address of the account that exists once it is claimed. */
  claim: string;
  tree: string;
  leaf_index: bigint;
  leaf: string;
  /** The record or the deposit. */
  source: string;
  caller: string;
  amount: bigint;
  unclaimed_at: bigint;
  /** Null if its claim is known and the transaction that added the leaf is not. */
  signature: string | null;
  claimed_at: bigint | null;
  claim_signature: string | null;
  slot: bigint;
}

export interface UnreadRow {
  address: string;
  slot: bigint;
  execution_id: string | null;
  open_signature: string | null;
  opened_slot: bigint | null;
  end_signature: string | null;
  deposit: string | null;
}

interface ListingVersionRow {
  /** Listing address and version number. */
  version: string;
  timeout_seconds: bigint;
  slot: bigint;
}

export interface AgentStatisticsRow {
  listing: string;
  total_executions: bigint;
  successful_executions: bigint;
  success_rate: number;
  avg_execution_time_ms: bigint;
  dispute_count: bigint;
  earned: bigint;
  /** All ended executions, including refunded ones. */
  ended_executions: bigint;
  timed_executions: bigint;
  total_time_ms: bigint;
}

/** An active listing with all that lists filter and sort by. */
export interface AgentRow {
  /** Grows with each listing and each change of its document. */
  id: bigint;
  listing: string;
  creator: string;
  verified: Flag;
  price: bigint;
  tag_mask: bigint;
  listed_at: bigint;
  metadata_hash: string;
  /** The first 60 bits of `metadata_hash`. */
  document: bigint;
  total_executions: bigint;
  success_rate: number;
  score: number;
  avg_execution_time_ms: bigint;
}

export interface CallerTotalRow {
  caller: string;
  /** '' for all of the caller's listings. */
  listing: string;
  status: ExecutionStatusName;
  /** `opened_at` / 86400. */
  day: bigint;
  executions: bigint;
}

export interface AgentDayRow {
  listing: string;
  /** `settled_at` / 86400. */
  day: bigint;
  outcome: EndedExecutionRow['outcome'];
  /** Number of the RefundReason; -1 if none. */
  reason: bigint;
  /** To two significant digits; -1 if none. */
  time_ms: bigint;
  executions: bigint;
  earned: bigint;
}

/** A view of ended executions; `failed` is the creator's fault, `refunded` is not. */
export interface EndedExecutionRow {
  execution_id: string;
  listing: string;
  outcome: 'completed' | 'failed' | 'refunded' | 'disputed' | 'dispute_upheld';
  execution_time_ms: bigint | null;
  creator_amount: bigint;
  dispute_count: bigint;
  settled_at: bigint | null;
}

interface CursorRow {
  id: bigint;
  signature: string;
  slot: bigint;
}

export interface EventRow {
  signature: string;
  event_index: bigint;
  slot: bigint;
  name: string;
  data: string;
}

export interface EventlessRow {
  signature: string;
  slot: bigint;
}

export interface GapRow {
  signature: string;
  slot: bigint;
  reason: string;
}

/** The tables of the index for Kysely; the migration documents the columns. */
export interface IndexDatabase {
  chain_meta: { id: bigint; genesis_hash: string; program_id: string; restart_slot: bigint | null };
  cursor: CursorRow;
  progress: { id: bigint; slot: bigint; checked_at: bigint };
  backfill: { id: bigint; state: 'listing' | 'applying' | 'history'; token: string | null };
  pruned_slots: { first_slot: bigint; last_slot: bigint };
  /** Transactions that could not be read. */
  gaps: GapRow;
  listed_signatures: { position: bigint; slot: bigint; signature: string; failed: Flag };
  /** `applied_slot`: where readers find an event that was applied late; null for all others. */
  events: EventRow & { applied_slot: Generated<bigint | null> };
  configs: ConfigRow;
  creators: CreatorRow;
  listings: ListingRow;
  grants: GrantRow;
  executions: ExecutionRow;
  deposits: DepositRow;
  disputes: DisputeRow;
  archives: ArchiveRow;
  archive_leaves: ArchiveLeafRow;
  unclaimed_refunds: UnclaimedRefundRow;
  unread_accounts: UnreadRow;
  listing_versions: ListingVersionRow;
  eventless_transactions: EventlessRow;
  agent_statistics: AgentStatisticsRow;
  caller_totals: CallerTotalRow;
  agent_days: AgentDayRow;
  agents: Omit<AgentRow, 'id'> & { id: Generated<bigint> };
  ended_executions: EndedExecutionRow;
}

/** The index as seen by a connection that attached it as `chain`: `chain.listings` and so on. */
export type AttachedIndex = { [Table in keyof IndexDatabase as `chain.${Table}`]: IndexDatabase[Table] };
