/** TypeScript types of the index. migrations/index documents the columns; the two change together. */

import type { Generated } from 'kysely';

export type ListingStatusName = 'active' | 'paused' | 'delisted';
/** The record's status; that of a completed one with an open or upheld dispute shows the dispute. */
export type ExecutionStatusName = 'open' | 'completed' | 'refunded' | 'disputed' | 'dispute_upheld';
export type DisputeOutcomeName = 'open' | 'rejected' | 'upheld' | 'lapsed';
export type DepositStatusName = 'prepared' | 'opened' | 'refunded';
/** SQLite has no booleans: 0n or 1n. */
export type Flag = 0n | 1n;

export interface ConfigRow {
  config: string;
  admin: string;
  /** JSON array of base58. */
  relay_authorities: string;
  usdc_mint: string;
  treasury: string;
  fee_bps: bigint;
  /** Time from a paid execution's end until its record can be archived. */
  record_seconds: bigint;
  admin_paused: Flag;
  guardian_paused: Flag;
  slot: bigint;
}

export interface CreatorRow {
  wallet: string;
  verified: Flag;
  verified_at: bigint;
  slot: bigint;
}

export interface ListingRow {
  listing: string;
  creator: string;
  listing_id: string;
  signing_key: string;
  payout: string;
  price: bigint;
  timeout_seconds: bigint;
  min_timeout_seconds: bigint;
  tag_mask: bigint;
  status: ListingStatusName;
  listing_version: bigint;
  metadata_hash: string;
  metadata_uri: string;
  deposited: bigint;
  slashed: bigint;
  forfeited: bigint;
  listed_at: bigint;
  returnable_at: bigint | null;
  collateral_returned: Flag;
  slot: bigint;
}

export interface GrantRow {
  grant_address: string;
  wallet: string;
  key_id: string;
  per_execution_max: string;
  period_max: string;
  total_max: string;
  period_seconds: bigint;
  expires_at: bigint;
  created_at: bigint;
  revoked: Flag;
  closed: Flag;
  execution_count: bigint;
  total_spent: string;
  max_gas_lamports: bigint;
  slot: bigint;
}

export interface ExecutionRow {
  execution_id: string;
  record: string;
  listing: string;
  caller: string;
  signing_key: string;
  key_id: string | null;
  rent_sponsor: string;
  price: bigint;
  fee_bps: bigint;
  listing_version: bigint;
  request_hash: string;
  result_hash: string | null;
  status: ExecutionStatusName;
  reason: bigint | null;
  creator_amount: bigint;
  platform_amount: bigint;
  execution_time_ms: bigint | null;
  opened_at: bigint;
  deadline: bigint;
  refund_at: bigint;
  settled_at: bigint | null;
  dispute_window_seconds: bigint;
  dispute_count: bigint;
  open_signature: string | null;
  opened_slot: bigint | null;
  open_index: bigint | null;
  listing_timeout_seconds: bigint | null;
  end_signature: string | null;
  closed: Flag;
  gas_lamports: bigint;
  /** 1 if the caller's gas balance lent the escrow's rent. */
  spender_lends_escrow: Flag;
  /** The deposit that paid; null if none did. */
  deposit: string | null;
  slot: bigint;
}

export interface DepositRow {
  deposit: string;
  caller: string;
  rent_sponsor: string;
  /** Decimal text. */
  price: string;
  service_fee: bigint;
  prepared_at: bigint;
  expires_at: bigint;
  status: DepositStatusName;
  ended_at: bigint | null;
  end_signature: string | null;
  closed: Flag;
  slot: bigint;
}

export interface DisputeRow {
  dispute: string;
  record: string;
  execution_id: string;
  listing: string;
  caller: string;
  evidence_hash: string;
  evidence_uri: string | null;
  reason_hash: string | null;
  outcome: DisputeOutcomeName;
  bond: bigint;
  /** Null if nothing shows it any more. */
  amount_to_caller: bigint | null;
  amount_slashed: bigint | null;
  owed: bigint;
  opened_at: bigint;
  resolved_at: bigint | null;
  closed: Flag;
  rent_sponsor: string;
  slot: bigint;
}

export interface ArchiveRow {
  archive: string;
  archive_index: bigint;
  tree: string;
  leaf_count: bigint;
  created_at: bigint;
  slot: bigint;
}

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

export interface ListingVersionRow {
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

export interface CursorRow {
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
