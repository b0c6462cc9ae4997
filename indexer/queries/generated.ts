/** The tables of migrations/index. Made by: RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts */
import type { Generated } from 'kysely';

export interface IndexTables {
  agent_days: {
    listing: string;
    day: bigint;
    outcome: string;
    reason: bigint;
    time_ms: bigint;
    executions: bigint;
    paid: bigint;
    earned: bigint;
  };
  agent_statistics: {
    listing: string;
    total_executions: bigint;
    successful_executions: bigint;
    success_rate: number;
    avg_execution_time_ms: bigint;
    dispute_count: bigint;
    earned: bigint;
    /** All ended executions, including refunded ones; when this falls to 0, the row is deleted. */
    ended_executions: bigint;
    timed_executions: bigint;
    total_time_ms: bigint;
  };
  agents: {
    /** Grows with each listing and each change of a listing's document, also over rebuilds of the index. A reader that has seen an id therefore asks only for later ones. */
    id: Generated<bigint>;
    listing: string;
    creator: string;
    verified: 0n | 1n;
    price: bigint;
    tag_mask: bigint;
    listed_at: bigint;
    metadata_hash: string;
    /** The first 60 bits of `metadata_hash`: the id of its document in the ledger. Joins by a number are several times faster. */
    document: bigint;
    total_executions: bigint;
    success_rate: number;
    /** The order `best`: the success rate with ten more calls, half of them successful. A few calls decide little. */
    score: number;
    avg_execution_time_ms: bigint;
  };
  archive_leaves: {
    tree: string;
    leaf_index: bigint;
    record: string;
    execution_id: string;
    leaf: string;
    signature: string;
    slot: bigint;
  };
  archives: {
    archive: string;
    archive_index: bigint;
    tree: string;
    leaf_count: bigint;
    slot: bigint;
  };
  backfill: {
    id: bigint;
    state: 'listing' | 'applying' | 'history';
    token: string | null;
  };
  caller_totals: {
    caller: string;
    listing: string;
    status: string;
    day: bigint;
    executions: bigint;
  };
  chain_meta: {
    id: bigint;
    genesis_hash: string;
    program_id: string;
    /** The sysvar LastRestartSlot of the chain that the tables show. A cluster that restarts may continue from before its last final slot, so the tables are built again when it changes. NULL until it was read for the first time. */
    restart_slot: bigint | null;
  };
  configs: {
    config: string;
    admin: string;
    /** JSON array of base58: the keys that may settle and refund, and open for API keys. */
    relay_authorities: string;
    /** Time from a paid execution's end until its record can be archived. */
    record_seconds: bigint;
    slot: bigint;
  };
  creators: {
    wallet: string;
    verified: 0n | 1n;
    verified_at: bigint;
    slot: bigint;
  };
  cursor: {
    id: bigint;
    signature: string;
    slot: bigint;
  };
  deposits: {
    deposit: string;
    caller: string;
    rent_sponsor: string;
    price: string;
    service_fee: bigint;
    prepared_at: bigint;
    expires_at: bigint;
    status: 'prepared' | 'opened' | 'refunded';
    ended_at: bigint | null;
    end_signature: string | null;
    slot: bigint;
    closed: 0n | 1n;
  };
  disputes: {
    dispute: string;
    record: string;
    execution_id: string;
    listing: string;
    caller: string;
    evidence_hash: string;
    evidence_uri: string | null;
    reason_hash: string | null;
    outcome: 'open' | 'rejected' | 'upheld' | 'lapsed';
    bond: bigint;
    bond_paid: bigint | null;
    amount_to_caller: bigint | null;
    amount_slashed: bigint | null;
    owed: bigint;
    opened_at: bigint;
    resolved_at: bigint | null;
    slot: bigint;
    /** 1 once the account is gone, long after the outcome. If the log could not be trusted and the account could not be read any more, times are the block's, and amounts follow from the instruction and the listing's row, or are NULL. */
    closed: 0n | 1n;
  };
  eventless_transactions: {
    signature: string;
    slot: bigint;
  };
  events: {
    signature: string;
    event_index: bigint;
    slot: bigint;
    name: string;
    data: string;
    /** Relays follow the events by slot, so an event that is applied late would be in a slot that they have passed. NULL for an event in the order of the chain. For a late one it is above every slot that the tables had reached, and relays find it there. */
    applied_slot: bigint | null;
  };
  executions: {
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
    status: 'open' | 'completed' | 'refunded' | 'disputed' | 'dispute_upheld';
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
    end_signature: string | null;
    slot: bigint;
    closed: 0n | 1n;
    /** Slot of the transaction that opened it, and the number of the program's executions opened before in that slot. Together they give the order of the chain, which seconds cannot. NULL if the opening transaction is unknown. */
    opened_slot: bigint | null;
    open_index: bigint | null;
    /** The listing's own timeout when the execution was opened; NULL if that version of the listing was not seen. */
    listing_timeout_seconds: bigint | null;
    /** Lamports in the record for the relay authority that ends it. */
    gas_lamports: bigint;
    /** 1 if the caller's gas balance lent the escrow's rent and gets it back; else `rent_sponsor` does. */
    spender_lends_escrow: 0n | 1n;
    /** The deposit that paid; NULL if a wallet or a grant did. No account shows it. */
    deposit: string | null;
  };
  gaps: {
    signature: string;
    slot: bigint;
    reason: string;
  };
  grants: {
    grant_address: string;
    wallet: string;
    key_id: string;
    expires_at: bigint;
    created_at: bigint;
    revoked: 0n | 1n;
    execution_count: bigint;
    total_spent: string;
    slot: bigint;
    /** 1 if the account is gone. A closed grant is also `revoked`, because its key is useless. Its expiry and figures may lack the last changes of a log that could not be trusted. The execution of a closed record has ended. */
    closed: 0n | 1n;
  };
  listed_signatures: {
    position: bigint;
    slot: bigint;
    signature: string;
    failed: 0n | 1n;
  };
  listing_versions: {
    /** Listing address and version number, separated by a space. */
    version: string;
    timeout_seconds: bigint;
    slot: bigint;
  };
  listings: {
    listing: string;
    creator: string;
    listing_id: string;
    signing_key: string;
    payout: string;
    price: bigint;
    timeout_seconds: bigint;
    min_timeout_seconds: bigint;
    tag_mask: bigint;
    status: 'active' | 'paused' | 'delisted';
    listing_version: bigint;
    metadata_hash: string;
    metadata_uri: string;
    deposited: bigint;
    listed_at: bigint;
    slot: bigint;
    /** `slashed` is the part of `deposited` that upheld disputes took, `forfeited` the part of it that is still in the vault and neither paid nor owed. `returnable_at` is NULL before delisting. */
    slashed: bigint;
    forfeited: bigint;
    returnable_at: bigint | null;
    collateral_returned: 0n | 1n;
  };
  progress: {
    id: bigint;
    slot: bigint;
    checked_at: bigint;
  };
  pruned_slots: {
    first_slot: bigint;
    last_slot: bigint;
  };
  unclaimed_refunds: {
    claim: string;
    tree: string;
    leaf_index: bigint;
    leaf: string;
    source: string;
    caller: string;
    amount: bigint;
    unclaimed_at: bigint;
    signature: string | null;
    claimed_at: bigint | null;
    slot: bigint;
  };
  unread_accounts: {
    address: string;
    slot: bigint;
    /** Known facts about a record that was gone before its account was read: its execution, and the transactions that opened and ended it. The row that its leaf makes later takes them over. NULL if the account is not a record. A dispute of such a record has a row only if its account or its event was read. */
    execution_id: string | null;
    open_signature: string | null;
    opened_slot: bigint | null;
    end_signature: string | null;
    /** The deposit that paid; NULL if none did. */
    deposit: string | null;
  };
}
