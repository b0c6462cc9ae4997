/** Rows that show an account of the program, one each. migrations/index documents the columns; the two change together. */

export type ListingStatusName = 'active' | 'paused' | 'delisted';
/** The record's status; that of a completed one with an open or upheld dispute shows the dispute. */
export type ExecutionStatusName = 'open' | 'completed' | 'refunded' | 'disputed' | 'dispute_upheld';
export type DisputeOutcomeName = 'open' | 'rejected' | 'upheld' | 'lapsed';
type DepositStatusName = 'prepared' | 'opened' | 'refunded';
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
  /** What the account holds of it. */
  bond: bigint;
  /** What was paid at the open; null if nothing shows it any more. */
  bond_paid: bigint | null;
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
