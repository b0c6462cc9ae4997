/** The tables of migrations/ledger. Made by: RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts */
import type { Generated } from 'kysely';

export interface StoredTables {
  admin_actions: {
    action_id: string;
    begun_ms: bigint;
    /** NULL while it is done, and for ever if the process or the database stopped meanwhile; also `outcome`. */
    ended_ms: bigint | null;
    wallet: string;
    /** A name of /trpc. */
    action: string;
    /** An execution's id; of a sign-in the address that it came from; of a list its filter. */
    subject: string;
    /** `done`, or the code of the error. */
    outcome: string | null;
  };
  agent_examples: {
    metadata_hash: string;
    wallet: string;
    /** Task, parameters and result as JSON, whose escapes hold any text. */
    example: string;
    tested_ms: bigint;
  };
  api_keys: {
    key_hash: string;
    key_id: string;
    wallet: string;
    name: string;
    created_ms: bigint;
    last_used_ms: bigint | null;
    revoked_ms: bigint | null;
    /** Restrictions that the wallet itself set, in addition to the grant's. NULL for none. */
    scopes: Generated<string>;
    expires_ms: bigint | null;
    /** Comma-separated CIDR blocks. */
    allowed_ips: string | null;
    /** Comma-separated addresses of listings. */
    allowed_agents: string | null;
  };
  archive_nodes: {
    archive_index: bigint;
    level: bigint;
    position: bigint;
    hash: Buffer;
  };
  archive_trees: {
    archive_index: bigint;
    tree: string;
    leaf_count: bigint;
    is_proven: bigint;
  };
  authorization_codes: {
    key_hash: string;
    digest: string;
    sealed_key: Buffer;
    binding: string;
    /** When the key ends on the chain, unix ms. */
    key_expires_ms: bigint;
    expires_ms: bigint;
  };
  call_keys: {
    kid: string;
    x: string;
    /** By this database's clock; a live relay extends it repeatedly. */
    listed_until_ms: bigint;
  };
  cluster: {
    id: bigint;
    restart_slot: bigint;
  };
  debts: {
    wallet: string;
    lamports: bigint;
    lost_ms: bigint;
  };
  dispute_reasons: {
    execution_id: string;
    reason_hash: string;
    reason: string;
    received_ms: bigint;
  };
  dispute_replies: {
    execution_id: string;
    reply: string;
    received_ms: bigint;
  };
  documents: {
    /** The first 60 bits of the hash, as `agents.document` of the index. */
    id: Generated<bigint>;
    metadata_hash: string;
    received_ms: bigint;
    /** The fields that lists show, as JSON. */
    description: string;
    /** Words to find it by, separated by spaces: its words, its creator's name's words after an @, its tags after a #. */
    words: string;
    /** 1 if it is tagged `sandbox`: agents for tests come last in the order `best`. */
    is_sandbox: Generated<bigint>;
    document: string;
  };
  event_feed: {
    id: bigint;
    position: bigint;
    /** Null before the first look: the history before it is not reported. */
    slot: bigint | null;
  };
  events: {
    /** Of one execution, a later event has a larger id. The ids of several writers may become visible in another order. */
    id: Generated<bigint>;
    /** The order in which events are shown. Numbered after the event's transaction, by one relay at a time, so that no reader can miss an event. Null until then. */
    position: bigint | null;
    wallet: string;
    type: string;
    /** The endpoint that alone receives it: of a test event. Null for the wallet's endpoints that want the type. */
    endpoint_id: string | null;
    execution_id: string | null;
    /** Of an event of an execution: its agent, what it costs in base units, and why it failed. */
    listing: string | null;
    cost: bigint | null;
    error_code: string | null;
    /** The details of all other events, as JSON. */
    data: string | null;
    created_ms: bigint;
  };
  evidence: {
    execution_id: string;
    evidence_hash: string;
    wallet: string;
    media_type: string;
    content: Buffer;
    received_ms: bigint;
  };
  executions: {
    execution_id: string;
    wallet: string;
    key_id: string;
    listing: string;
    listing_version: bigint;
    metadata_hash: string;
    nonce: string;
    price: bigint;
    max_cost: bigint;
    timeout_seconds: bigint;
    task: string;
    parameters: string;
    request_hash: string;
    state: 'accepted' | 'deposit_signed' | 'deposit_confirmed' | 'pay_signed' | 'paid' | 'returning' | 'open_signed' | 'open_confirmed' | 'dispatched' | 'verified' | 'refunding' | 'settled' | 'refunded' | 'returned' | 'void' | 'parked';
    created_ms: bigint;
    accepted_at: bigint;
    open_before: bigint | null;
    opened_at: bigint | null;
    deadline: bigint | null;
    refund_at: bigint | null;
    fee_bps: bigint | null;
    dispatched_ms: bigint | null;
    execution_time_ms: bigint | null;
    refund_reason: bigint | null;
    refund_state: 'pending' | 'waiting' | 'done' | null;
    settled_at: bigint | null;
    creator_amount: bigint | null;
    platform_amount: bigint | null;
    error_code: string | null;
    error_message: string | null;
    /** Whose doing it was that a deposit is sent back. Its network fees count against them if nothing was paid. */
    culprit: 'wallet' | 'listing' | 'operator' | null;
    rebuilds: Generated<bigint>;
    /** SHA-256 of agent and canonical body, if the request had an Idempotency-Key; the key itself is in the nonce. */
    fingerprint: string | null;
    /** The relay that owns the row: only that process changes it. Another takes it once the owner is no longer alive. */
    lease_owner: string | null;
    /** Network fees that this call and earlier calls with its id cost and nobody paid, lamports. The wallet owes the first part until a later call repays it; the second counts against the listing, whose change or closed account was the cause. */
    lost_fees: Generated<bigint>;
    listing_fees: Generated<bigint>;
    /** When the last fee was lost. */
    lost_ms: Generated<bigint>;
    /** Until then the row needs no work: only a person, or the end of its time, can change anything. */
    rest_until_ms: Generated<bigint>;
    /** The listing's timeout at that time; the caller may have asked for less. */
    listing_timeout_seconds: bigint | null;
    /** What the open pays to the relay out of the gas balance: its own fee, and earlier losses of the wallet that it repays. A call paid by a deposit repays them out of its service fee. And the gas that the record holds for its end. */
    fee_lamports: Generated<bigint>;
    repaid_lamports: Generated<bigint>;
    gas_lamports: Generated<bigint>;
    /** Rent of the record and of the escrow if the operator lends it. The escrow's is returned when the execution ends, the record's when it is closed, which sets it to 0. */
    record_lent: Generated<bigint>;
    escrow_lent: Generated<bigint>;
    /** Lamports that the open takes from the wallet's gas balance: fee, gas, and the rent that the operator does not lend. */
    gas_balance_lamports: Generated<bigint>;
    /** A slot at which the chain showed the record. Accounts read at an earlier slot may still show the money that the open took. */
    opened_slot: bigint | null;
    /** When the caller deleted task, parameters and result; null while they are kept. */
    content_deleted_ms: bigint | null;
    /** Of a call that an x402 client pays for: the address of its deposit, whether that address names the payer, the part of the payment beyond the price, and the client's own id of the payment. */
    deposit: string | null;
    names_payer: Generated<bigint>;
    service_fee: Generated<bigint>;
    payment_id: string | null;
    /** The client's payment as the client alone signed it; null once the relay has signed it too (`transactions`). Without that signature nobody can send it. */
    payment: Buffer | null;
    payment_last_valid_height: bigint | null;
  };
  failed_answers: {
    execution_id: string;
    /** Null if no HTTP answer came. */
    http_status: bigint | null;
    /** The beginning of the body, at most 16 KiB; null if none came, or once it is old or its caller deleted it. */
    body: Buffer | null;
    /** 1 if the body was longer. */
    is_cut: bigint;
    /** From the first call of the server to its answer, or to the deadline. */
    duration_ms: bigint;
    answered_ms: bigint;
  };
  leaderships: {
    name: string;
    owner: string;
    until_ms: bigint;
  };
  lenders: {
    address: string;
  };
  lent_sums: {
    kind: 'keys' | 'x402';
    lamports: bigint;
  };
  lost_calls: {
    id: bigint;
    noticed_at: bigint;
  };
  pending_metadata: {
    metadata_hash: string;
    wallet: string;
    network: string;
    is_known: bigint;
    received_ms: bigint;
  };
  relays: {
    owner: string;
    alive_until_ms: bigint;
  };
  results: {
    execution_id: string;
    /** Bytes of the result, in any place. */
    size: bigint;
    object_stored: Generated<bigint>;
    result_hash: string;
    signature: string;
    execution_signature: string | null;
    tokens_used: bigint | null;
    steps: string | null;
    execution_time_ms: bigint;
    token: string;
    verified_ms: bigint;
    /** At most 5 MiB. It is the last column because SQLite reads a row up to the last column that a query needs. */
    result: Buffer | null;
  };
  revocations: {
    wallet: string;
    sent_ms: bigint;
    fee: bigint;
  };
  secrets: {
    name: string;
    bytes: Buffer;
  };
  sessions: {
    digest: string;
    kind: 'token' | 'cookie';
    wallet: string;
    /** Of the address that signed in. */
    network: string;
    /** 1 if strangers cannot displace it: the wallet has paid, has a listing, or is the admin's. */
    is_known: bigint;
    expires_ms: bigint;
    /** The latest time that it can be extended to. */
    ends_ms: bigint;
  };
  signed_transactions: {
    /** The fee payer's. */
    signature: string;
    /** The last block height at which it can land. */
    last_valid_height: bigint;
    /** What it costs if it lands or fails, lamports: the sum of its calls' shares. */
    fee: bigint;
    bytes: Buffer;
  };
  sweeper_transactions: {
    signature: string;
    signed: Buffer;
    last_valid_height: bigint;
  };
  transactions: {
    execution_id: string;
    /** `pay` is the client's payment into the deposit, `return` its refund. */
    kind: 'deposit' | 'pay' | 'open' | 'settle' | 'refund' | 'return';
    /** 0 for the first of its kind. */
    attempt: bigint;
    signature: string;
    /** This execution's share of the fee, lamports; all of it if its part made the transaction fail. */
    fee: bigint;
    /** What became of it by what the relay has seen; null while that is unknown. An expired one costs this execution nothing: it cannot land, or another execution's part made it fail. */
    outcome: 'landed' | 'failed' | 'expired' | null;
    /** Whose doing it was that nobody pays this fee; null while somebody does, or it is unknown. The row's lost fees contain it from the same moment on, unless it is the operator, so that no fee counts twice. */
    culprit: 'wallet' | 'listing' | 'operator' | null;
  };
  used_challenges: {
    digest: string;
    expires_ms: bigint;
  };
  warnings: {
    wallet: string;
    type: string;
    /** The key, or the agent; '' for the wallet. */
    subject: string;
  };
  webhook_deliveries: {
    id: Generated<bigint>;
    endpoint_id: string;
    /** Of the event. */
    position: bigint;
    execution_id: string | null;
    state: 'pending' | 'delivered' | 'failed';
    attempts: Generated<bigint>;
    /** Of a pending one: when the next attempt is due. An attempt that begins moves it behind its own end, so that no other relay begins one too; if its relay dies, another attempt follows then. */
    due_ms: bigint;
    /** 1 while an attempt is made, or its relay died in it. */
    is_sent: Generated<bigint>;
    /** 1 if the wallet asked for it: a test, or an event once more. It is sent to a disabled endpoint too. */
    is_asked: Generated<bigint>;
    attempted_ms: bigint | null;
    duration_ms: bigint | null;
    /** Of the answer; null if none came, and then `error` says why. */
    http_status: bigint | null;
    /** The beginning of its body, at most 1 KiB. */
    body: Buffer | null;
    error: string | null;
    created_ms: bigint;
  };
  webhook_endpoints: {
    endpoint_id: string;
    wallet: string;
    /** Of the address that created it. */
    network: string;
    /** 1 if strangers cannot displace it: the wallet has paid, has a listing, or is the admin's. A 0 may be old. */
    is_known: bigint;
    url: string;
    /** Separated by spaces; empty for all types. */
    event_types: string;
    /** Base64. A rotated secret signs too until its end. */
    secret: string;
    old_secret: string | null;
    old_secret_until_ms: bigint | null;
    created_ms: bigint;
    /** Of the first attempt that failed since the last success; null while it works. */
    failing_since_ms: bigint | null;
    /** Quick attempts until it is no longer slow; 0 if it is not. Slow endpoints get few parallel attempts. */
    slow_for: Generated<bigint>;
    /** When it was switched off, and by whom: its wallet, or the relay after days of failures. */
    disabled_ms: bigint | null;
    disabled_by: 'wallet' | 'failures' | null;
  };
}

export const EXECUTIONS_COLUMNS = [
  'execution_id',
  'wallet',
  'key_id',
  'listing',
  'listing_version',
  'metadata_hash',
  'nonce',
  'price',
  'max_cost',
  'timeout_seconds',
  'task',
  'parameters',
  'request_hash',
  'state',
  'created_ms',
  'accepted_at',
  'open_before',
  'opened_at',
  'deadline',
  'refund_at',
  'fee_bps',
  'dispatched_ms',
  'execution_time_ms',
  'refund_reason',
  'refund_state',
  'settled_at',
  'creator_amount',
  'platform_amount',
  'error_code',
  'error_message',
  'culprit',
  'rebuilds',
  'fingerprint',
  'lease_owner',
  'lost_fees',
  'listing_fees',
  'lost_ms',
  'rest_until_ms',
  'listing_timeout_seconds',
  'fee_lamports',
  'repaid_lamports',
  'gas_lamports',
  'record_lent',
  'escrow_lent',
  'gas_balance_lamports',
  'opened_slot',
  'content_deleted_ms',
  'deposit',
  'names_payer',
  'service_fee',
  'payment_id',
  'payment',
  'payment_last_valid_height',
] as const;
