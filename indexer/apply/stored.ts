/**
 * The tables that a batch changes row by row through its unit of work: their columns, the key of a row, and the unique
 * columns of the database.
 */
import type { IndexDatabase } from '../queries/tables.ts';

export interface StoredTable<Row> {
  name: keyof IndexDatabase & string;
  /** Every column. */
  columns: readonly (keyof Row & string)[];
  key: keyof Row & string;
  /** Columns for `ON CONFLICT`. */
  unique: readonly (keyof Row & string)[];
}

export type StoredName =
  | 'configs'
  | 'creators'
  | 'listings'
  | 'grants'
  | 'executions'
  | 'deposits'
  | 'disputes'
  | 'archives'
  | 'archive_leaves'
  | 'unclaimed_refunds'
  | 'unread_accounts'
  | 'listing_versions'
  | 'cursor';
export type StoredRow<Table extends StoredName> = IndexDatabase[Table];

/** A missing column does not compile. */
type Columns<Row> = Record<keyof Row, true>;

function stored<Table extends StoredName>(
  name: Table,
  columns: Columns<StoredRow<Table>>,
  key: keyof StoredRow<Table> & string,
  unique: readonly (keyof StoredRow<Table> & string)[] = [key],
): StoredTable<StoredRow<Table>> {
  return { name, columns: Object.keys(columns) as (keyof StoredRow<Table> & string)[], key, unique };
}

export const STORED: { [Table in StoredName]: StoredTable<StoredRow<Table>> } = {
  configs: stored(
    'configs',
    {
      config: true,
      admin: true,
      relay_authorities: true,
      usdc_mint: true,
      treasury: true,
      fee_bps: true,
      record_seconds: true,
      admin_paused: true,
      guardian_paused: true,
      slot: true,
    },
    'config',
  ),
  creators: stored('creators', { wallet: true, verified: true, verified_at: true, slot: true }, 'wallet'),
  listings: stored(
    'listings',
    {
      listing: true,
      creator: true,
      listing_id: true,
      signing_key: true,
      payout: true,
      price: true,
      timeout_seconds: true,
      min_timeout_seconds: true,
      tag_mask: true,
      status: true,
      listing_version: true,
      metadata_hash: true,
      metadata_uri: true,
      deposited: true,
      slashed: true,
      forfeited: true,
      listed_at: true,
      returnable_at: true,
      collateral_returned: true,
      slot: true,
    },
    'listing',
  ),
  grants: stored(
    'grants',
    {
      grant_address: true,
      wallet: true,
      key_id: true,
      per_execution_max: true,
      period_max: true,
      total_max: true,
      period_seconds: true,
      expires_at: true,
      created_at: true,
      revoked: true,
      closed: true,
      execution_count: true,
      total_spent: true,
      max_gas_lamports: true,
      slot: true,
    },
    'grant_address',
  ),
  executions: stored(
    'executions',
    {
      execution_id: true,
      record: true,
      listing: true,
      caller: true,
      signing_key: true,
      key_id: true,
      rent_sponsor: true,
      price: true,
      fee_bps: true,
      listing_version: true,
      request_hash: true,
      result_hash: true,
      status: true,
      reason: true,
      creator_amount: true,
      platform_amount: true,
      execution_time_ms: true,
      opened_at: true,
      deadline: true,
      refund_at: true,
      settled_at: true,
      dispute_window_seconds: true,
      dispute_count: true,
      open_signature: true,
      opened_slot: true,
      open_index: true,
      listing_timeout_seconds: true,
      end_signature: true,
      closed: true,
      gas_lamports: true,
      spender_lends_escrow: true,
      deposit: true,
      slot: true,
    },
    'record',
    ['execution_id'],
  ),
  deposits: stored(
    'deposits',
    {
      deposit: true,
      caller: true,
      rent_sponsor: true,
      price: true,
      service_fee: true,
      prepared_at: true,
      expires_at: true,
      status: true,
      ended_at: true,
      end_signature: true,
      closed: true,
      slot: true,
    },
    'deposit',
  ),
  disputes: stored(
    'disputes',
    {
      dispute: true,
      record: true,
      execution_id: true,
      listing: true,
      caller: true,
      evidence_hash: true,
      evidence_uri: true,
      reason_hash: true,
      outcome: true,
      bond: true,
      amount_to_caller: true,
      amount_slashed: true,
      owed: true,
      opened_at: true,
      resolved_at: true,
      closed: true,
      rent_sponsor: true,
      slot: true,
    },
    'dispute',
  ),
  archives: stored(
    'archives',
    { archive: true, archive_index: true, tree: true, leaf_count: true, created_at: true, slot: true },
    'archive',
  ),
  archive_leaves: stored(
    'archive_leaves',
    { tree: true, leaf_index: true, record: true, execution_id: true, leaf: true, signature: true, slot: true },
    'record',
    ['tree', 'leaf_index'],
  ),
  unclaimed_refunds: stored(
    'unclaimed_refunds',
    {
      claim: true,
      tree: true,
      leaf_index: true,
      leaf: true,
      source: true,
      caller: true,
      amount: true,
      unclaimed_at: true,
      signature: true,
      claimed_at: true,
      claim_signature: true,
      slot: true,
    },
    'claim',
  ),
  unread_accounts: stored(
    'unread_accounts',
    {
      address: true,
      slot: true,
      execution_id: true,
      open_signature: true,
      opened_slot: true,
      end_signature: true,
      deposit: true,
    },
    'address',
  ),
  listing_versions: stored('listing_versions', { version: true, timeout_seconds: true, slot: true }, 'version'),
  cursor: stored('cursor', { id: true, signature: true, slot: true }, 'id'),
};
