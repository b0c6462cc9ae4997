/** The rows of executions. */
import { type Generated, type Selectable, sql } from 'kysely';

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
  /**
   * Unpaid network fees that the wallet owes, including those of calls that this one replaced, lamports. A fee is
   * written together with its transaction's `culprit`, so that it counts once, whatever is killed in between.
   */
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
  gas_balance_lamports: Generated<bigint>;
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
  gas_balance_lamports: true,
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

export type ExecutionColumns = Selectable<ExecutionsTable>;
