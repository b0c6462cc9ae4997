/** The ledger's tables, as the files of migrations/ledger make them. */
import { type Generated, type Selectable, sql } from 'kysely';
import type { AttachedIndex } from '../../../indexer/queries/tables.ts';

export type ExecutionState =
  | 'accepted'
  | 'deposit_signed'
  | 'deposit_confirmed'
  | 'pay_signed'
  | 'paid'
  | 'returning'
  | 'returned'
  | 'open_signed'
  | 'open_confirmed'
  | 'dispatched'
  | 'verified'
  | 'refunding'
  | 'settled'
  | 'refunded'
  | 'void'
  | 'parked';

/** The relay does nothing more about rows in these states: the chain's end of an execution is final. */
export const ENDED_STATES: readonly ExecutionState[] = ['settled', 'refunded', 'returned', 'void'];
/**
 * Unfinished executions: those in any other state. The states are literals, as in the partial index: with bound values
 * SQLite scans the whole table.
 */
export const IS_UNFINISHED = sql<boolean>`state NOT IN ('settled', 'refunded', 'returned', 'void')`;

/** Whose doing a lost fee was: the wallet owes it, or it counts against the listing. `operator`: nobody else's. */
export type Culprit = 'wallet' | 'listing' | 'operator';

/** The state of a refund. `waiting`: the caller's account is missing or frozen. */
export type RefundState = 'pending' | 'waiting' | 'done';

/** True if a refund waits for the caller's own account. Only the caller can change that, so it is shown as an end. */
export const isWaiting = (row: { refund_state: RefundState | null }): boolean => row.refund_state === 'waiting';

export interface ExecutionsTable {
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
  /** The listing's maximum at the time; null if unknown. */
  listing_timeout_seconds: Generated<bigint | null>;
  task: string;
  parameters: string;
  request_hash: string;
  state: ExecutionState;
  created_ms: bigint;
  /**
   * The chain's clock when the caller's money was checked. It is shown as initiated_at until the record has its own.
   */
  accepted_at: bigint;
  open_before: bigint | null;
  opened_at: bigint | null;
  deadline: bigint | null;
  refund_at: bigint | null;
  fee_bps: bigint | null;
  dispatched_ms: bigint | null;
  execution_time_ms: bigint | null;
  refund_reason: bigint | null;
  refund_state: RefundState | null;
  settled_at: bigint | null;
  creator_amount: bigint | null;
  platform_amount: bigint | null;
  error_code: string | null;
  error_message: string | null;
  /** Whose doing it was that the deposit is sent back; null unless it is. */
  culprit: Generated<Culprit | null>;
  rebuilds: bigint;
  /** The relay process that works on the row. */
  lease_owner: string | null;
  /** SHA-256 of agent and canonical body in hex, if the call carried an Idempotency-Key. */
  fingerprint: string | null;
  /** Unpaid network fees that the wallet owes, including those of calls that this one replaced, lamports. */
  lost_fees: Generated<bigint>;
  /** Those that count against the listing instead. */
  listing_fees: Generated<bigint>;
  /** When the last of these fees was lost, unix ms; 0 if none was. */
  lost_ms: Generated<bigint>;
  /** Unix milliseconds before which recovery leaves the row alone. */
  rest_until_ms: Generated<bigint>;
  /** Lamports that the open pays to the relay out of the gas balance: its network fee, and what it repays. */
  fee_lamports: Generated<bigint>;
  /** Earlier lost fees of the wallet that this call repays once its open has landed, lamports. */
  repaid_lamports: Generated<bigint>;
  /** Lamports stored in the record for its end and its archiving. */
  gas_lamports: Generated<bigint>;
  /** The record's rent if the operator lent it, lamports; 0 otherwise, and once it has returned. */
  record_lent: Generated<bigint>;
  /** The escrow's rent if the operator lent it, lamports; it returns at the end. */
  escrow_lent: Generated<bigint>;
  /** Taken out of the wallet's gas balance by the open, lamports. */
  tank_lamports: Generated<bigint>;
  /** A slot in which the chain showed the record or refused its open; null before. */
  opened_slot: Generated<bigint | null>;
  /** When the caller deleted task, parameters and result, unix ms; null while they are kept. */
  content_deleted_ms: Generated<bigint | null>;
  /** Address of the deposit that pays for the call; null unless an x402 client pays. */
  deposit: Generated<string | null>;
  /** 1 if the deposit's address commits to the payer. */
  names_payer: Generated<bigint>;
  /** The part of the payment beyond the price, base units. */
  service_fee: Generated<bigint>;
  /** The client's own id of the payment. */
  payment_id: Generated<string | null>;
  /** The client's payment; null once this service has signed it too. Before that, nobody can send it. */
  payment: Generated<Buffer | null>;
  payment_last_valid_height: Generated<bigint | null>;
}

/** Every column of the table. */
const COLUMNS: Record<keyof ExecutionsTable, true> = {
  execution_id: true,
  wallet: true,
  key_id: true,
  listing: true,
  listing_version: true,
  metadata_hash: true,
  nonce: true,
  price: true,
  max_cost: true,
  timeout_seconds: true,
  listing_timeout_seconds: true,
  task: true,
  parameters: true,
  request_hash: true,
  state: true,
  created_ms: true,
  accepted_at: true,
  open_before: true,
  opened_at: true,
  deadline: true,
  refund_at: true,
  fee_bps: true,
  dispatched_ms: true,
  execution_time_ms: true,
  refund_reason: true,
  refund_state: true,
  settled_at: true,
  creator_amount: true,
  platform_amount: true,
  error_code: true,
  error_message: true,
  culprit: true,
  rebuilds: true,
  lease_owner: true,
  fingerprint: true,
  lost_fees: true,
  listing_fees: true,
  lost_ms: true,
  rest_until_ms: true,
  fee_lamports: true,
  repaid_lamports: true,
  gas_lamports: true,
  record_lent: true,
  escrow_lent: true,
  tank_lamports: true,
  opened_slot: true,
  content_deleted_ms: true,
  deposit: true,
  names_payer: true,
  service_fee: true,
  payment_id: true,
  payment: true,
  payment_last_valid_height: true,
};
export const EXECUTION_COLUMNS = Object.keys(COLUMNS) as (keyof ExecutionsTable)[];

/** `pay` is the client's payment into a deposit, `return` its refund. A move of an unclaimed refund counts as `refund`. */
export type TransactionKind = 'deposit' | 'pay' | 'open' | 'settle' | 'refund' | 'return';

/** The chain takes the fee of a landed and of a failed transaction. */
export type TransactionOutcome = 'landed' | 'failed' | 'expired';

/** Every signed transaction, once. */
export interface SignedTransactionsTable {
  signature: string;
  last_valid_height: bigint;
  /** Its cost if it lands or fails, lamports. */
  fee: bigint;
  bytes: Buffer;
}

/** The executions that each of them is for. */
export interface TransactionsTable {
  execution_id: string;
  kind: TransactionKind;
  /** 0 for the first of its kind. */
  attempt: bigint;
  signature: string;
  /** This execution's share of the fee, lamports; all of it if its part made the transaction fail. */
  fee: bigint;
  /** As far as this service has seen; null while unknown. */
  outcome: TransactionOutcome | null;
  /**
   * Whose doing it was that nobody pays the fee; null while nobody is known. The row has counted it since, if it was not
   * the operator's.
   */
  culprit: Generated<Culprit | null>;
}

export interface ResultsTable {
  execution_id: string;
  /** UTF-8 as bytes, because not every database accepts U+0000 in text. Null if the result is elsewhere or gone. */
  result: Buffer | null;
  /** Bytes of the result, wherever it is stored. */
  size: bigint;
  /** 1 while the object storage has it. */
  object_stored: Generated<bigint>;
  result_hash: string;
  signature: string;
  execution_signature: string | null;
  tokens_used: bigint | null;
  steps: string | null;
  execution_time_ms: bigint;
  token: string;
  verified_ms: bigint;
}

export interface ApiKeysTable {
  key_hash: string;
  key_id: string;
  wallet: string;
  name: string;
  created_ms: bigint;
  last_used_ms: bigint | null;
  revoked_ms: bigint | null;
  /** Space-separated. */
  scopes: Generated<string>;
  expires_ms: bigint | null;
  /** Comma-separated CIDR blocks; null allows any address. */
  allowed_ips: string | null;
  /** Comma-separated addresses of listings; null allows any agent. */
  allowed_agents: string | null;
}

/** Final answers of calls that may be repeated, exactly as given. */
export interface AnswersTable {
  execution_id: string;
  status: bigint;
  /** Without the JSON of its result, if that belongs at `result_at`. */
  body: Buffer;
  result_at: bigint | null;
  answered_ms: bigint;
}

/** Metadata documents; their migration documents the columns. */
export interface DocumentsTable {
  id: bigint;
  metadata_hash: string;
  received_ms: bigint;
  description: string | null;
  words: string | null;
  is_sandbox: bigint;
  document: string;
}

/** The posters of documents that wait for their listing. */
export interface PendingMetadataTable {
  metadata_hash: string;
  received_ms: bigint;
  /** The wallet whose session posted it; empty if none did. */
  wallet: string;
  /** The network of the poster. */
  network: string;
  /** 1 if unknown wallets cannot displace it. */
  is_known: bigint;
}

/** Relay processes, by the name that each takes at start. */
export interface RelaysTable {
  owner: string;
  alive_until_ms: bigint;
}

/** Valid results that came after their deadline. */
export interface LateAnswersTable {
  execution_id: string;
  /** UTF-8. */
  result: Buffer;
  result_hash: string;
  signature: string;
  execution_signature: string | null;
  received_ms: bigint;
}

/** Answers of creators in refunded calls; their migration documents the columns. */
export interface FailedAnswersTable {
  execution_id: string;
  http_status: bigint | null;
  body: Buffer | null;
  is_cut: bigint;
  duration_ms: bigint;
  answered_ms: bigint;
}

/** Key revocations that the relay paid for; `fee` is in lamports. */
export interface RevocationsTable {
  wallet: string;
  sent_ms: bigint;
  fee: bigint;
}

/** The last probe of each listing with refused calls. `passed_ms` belongs to the last passed probe. */
export interface ProbesTable {
  listing: string;
  probed_ms: bigint;
  passed_ms: bigint | null;
}

/** Trees of archives and their stored nodes; their migration documents the columns. */
export interface ArchiveTreesTable {
  archive_index: bigint;
  tree: string;
  leaf_count: bigint;
  is_proven: bigint;
}

export interface ArchiveNodesTable {
  archive_index: bigint;
  level: bigint;
  position: bigint;
  hash: Buffer;
}

/** The contents behind the hashes of disputes; their migration documents the columns. */
export interface EvidenceTable {
  execution_id: string;
  evidence_hash: string;
  wallet: string;
  media_type: string;
  content: Buffer;
  received_ms: bigint;
}

export interface DisputeRepliesTable {
  execution_id: string;
  reply: string;
  received_ms: bigint;
}

/** Passed tests that agents' pages show; their migration documents the columns. */
export interface AgentExamplesTable {
  metadata_hash: string;
  wallet: string;
  example: string;
  tested_ms: bigint;
}

export interface DisputeReasonsTable {
  execution_id: string;
  reason_hash: string;
  reason: string;
  received_ms: bigint;
}

/** The admin's actions; their migration documents the columns. */
export interface AdminActionsTable {
  action_id: string;
  begun_ms: bigint;
  ended_ms: bigint | null;
  wallet: string;
  action: string;
  subject: string;
  outcome: string | null;
}

/** The sweeper's signed transactions with unknown outcomes. */
export interface SweeperTransactionsTable {
  signature: string;
  signed: Buffer;
  last_valid_height: bigint;
}

/** Sessions and leaderships; their migration documents the columns. */
export interface SessionsTable {
  digest: string;
  kind: 'token' | 'cookie';
  wallet: string;
  /** Of the address that signed in. */
  network: string;
  /** 1 if unknown wallets cannot displace it. */
  is_known: bigint;
  expires_ms: bigint;
  ends_ms: bigint;
}

export interface UsedChallengesTable {
  digest: string;
  expires_ms: bigint;
}

export interface AuthorizationCodesTable {
  key_hash: string;
  digest: string;
  sealed_key: Buffer;
  binding: string;
  key_expires_ms: bigint;
  expires_ms: bigint;
}

export interface SecretsTable {
  name: string;
  bytes: Buffer;
}

export interface CallKeysTable {
  kid: string;
  x: string;
  listed_until_ms: bigint;
}

export interface LeadershipsTable {
  name: string;
  owner: string;
  until_ms: bigint;
}

/** The outbox and its receivers; their migration documents the columns. */
export interface EventsTable {
  id: Generated<bigint>;
  position: bigint | null;
  wallet: string;
  type: string;
  endpoint_id: string | null;
  execution_id: string | null;
  listing: string | null;
  cost: bigint | null;
  error_code: string | null;
  data: string | null;
  created_ms: bigint;
}

/** One row. */
export interface EventFeedTable {
  id: bigint;
  position: bigint;
  slot: bigint | null;
}

export interface WebhookEndpointsTable {
  endpoint_id: string;
  wallet: string;
  /** The network of the address that created it. */
  network: string;
  /** 1 if unknown wallets cannot displace it. A 0 may be old. */
  is_known: bigint;
  url: string;
  /** Space-separated; empty for all. */
  event_types: string;
  secret: string;
  old_secret: string | null;
  old_secret_until_ms: bigint | null;
  created_ms: bigint;
  failing_since_ms: bigint | null;
  /** Quick attempts until it is no longer slow; 0 if it is not. */
  slow_for: bigint;
  disabled_ms: bigint | null;
  disabled_by: 'wallet' | 'failures' | null;
}

export interface WebhookDeliveriesTable {
  id: Generated<bigint>;
  endpoint_id: string;
  position: bigint;
  execution_id: string | null;
  state: 'pending' | 'delivered' | 'failed';
  attempts: Generated<bigint>;
  due_ms: bigint;
  is_sent: Generated<bigint>;
  is_asked: Generated<bigint>;
  attempted_ms: bigint | null;
  duration_ms: bigint | null;
  http_status: bigint | null;
  body: Buffer | null;
  error: string | null;
  created_ms: bigint;
}

export interface WarningsTable {
  wallet: string;
  type: string;
  subject: string;
}

export interface LedgerTables {
  events: EventsTable;
  event_feed: EventFeedTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  warnings: WarningsTable;
  sessions: SessionsTable;
  used_challenges: UsedChallengesTable;
  authorization_codes: AuthorizationCodesTable;
  secrets: SecretsTable;
  leaderships: LeadershipsTable;
  call_keys: CallKeysTable;
  sweeper_transactions: SweeperTransactionsTable;
  lenders: { address: string };
  lost_calls: { id: bigint; noticed_at: bigint };
  lent_sums: { kind: 'keys' | 'x402'; lamports: bigint };
  debts: { wallet: string; lamports: bigint; lost_ms: bigint };
  archive_trees: ArchiveTreesTable;
  archive_nodes: ArchiveNodesTable;
  executions: ExecutionsTable;
  transactions: TransactionsTable;
  signed_transactions: SignedTransactionsTable;
  cluster: { id: bigint; restart_slot: bigint };
  evidence: EvidenceTable;
  dispute_reasons: DisputeReasonsTable;
  dispute_replies: DisputeRepliesTable;
  admin_actions: AdminActionsTable;
  relays: RelaysTable;
  results: ResultsTable;
  api_keys: ApiKeysTable;
  answers: AnswersTable;
  late_answers: LateAnswersTable;
  failed_answers: FailedAnswersTable;
  probes: ProbesTable;
  revocations: RevocationsTable;
  documents: DocumentsTable;
  agent_examples: AgentExamplesTable;
  pending_metadata: PendingMetadataTable;
}

/** The relay's tables, and under `chain.` those of the index (attached read-only by use). */
export type LedgerDatabase = LedgerTables & AttachedIndex;

export type ExecutionColumns = Selectable<ExecutionsTable>;
/** One execution's part of a signed transaction. */
export type TransactionRow = Selectable<TransactionsTable> &
  Pick<SignedTransactionsTable, 'last_valid_height' | 'bytes'> & {
    /** The fee of the whole transaction, lamports. */
    whole_fee: bigint;
  };
/** An execution with all transactions that were signed for it, in the order of kind and attempt. */
export type JournalRow = ExecutionColumns & { transactions: TransactionRow[] };
export type ResultRow = Selectable<ResultsTable>;
