/**
 * The ledger's tables. The columns are generated from migrations/ledger, which documents them; here is what the schema
 * does not say.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { AttachedIndex } from '../../../indexer/queries/tables.ts';
import type { StoredTables } from './generated.ts';

type Deliveries = StoredTables['webhook_deliveries'];
type Endpoints = StoredTables['webhook_endpoints'];

export interface LedgerTables extends Omit<StoredTables, 'webhook_deliveries' | 'webhook_endpoints'> {
  webhook_deliveries: Deliveries & { state: 'pending' | 'delivered' | 'failed' };
  webhook_endpoints: Endpoints & { disabled_by: 'wallet' | 'failures' | null };
}

/** The relay's tables, and under `chain.` those of the index (attached read-only by use). */
export type LedgerDatabase = LedgerTables & AttachedIndex;

/** The connections of a relay. */
export interface Databases {
  /** ledger.db for writing. */
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
}

export type ResultRow = Selectable<StoredTables['results']>;

export type ExecutionColumns = Selectable<StoredTables['executions']>;
export type ExecutionState = ExecutionColumns['state'];
/** The state of a refund. `waiting`: the caller's account is missing or frozen. */
export type RefundState = NonNullable<ExecutionColumns['refund_state']>;
/** Whose doing a lost fee was: the wallet owes it, or it counts against the listing. `operator`: nobody else's. */
export type Culprit = NonNullable<ExecutionColumns['culprit']>;

/** The relay does nothing more about rows in these states: the chain's end of an execution is final. */
export const ENDED_STATES: readonly ExecutionState[] = ['settled', 'refunded', 'returned', 'void'];
/** Literals, as in the partial index: with bound values SQLite scans the whole table. */
const ENDED = sql.raw(`(${ENDED_STATES.map((state) => `'${state}'`).join(', ')})`);
export const IS_ENDED = sql<boolean>`state IN ${ENDED}`;
export const IS_UNFINISHED = sql<boolean>`state NOT IN ${ENDED}`;

/** True if a refund waits for the caller's own account. Only the caller can change that, so it is shown as an end. */
export const isWaiting = (row: { refund_state: RefundState | null }): boolean => row.refund_state === 'waiting';

/** `pay` is the client's payment into a deposit, `return` its refund. A move of an unclaimed refund counts as `refund`. */
export type TransactionKind = StoredTables['transactions']['kind'];
/** The chain takes the fee of a landed and of a failed transaction. */
export type TransactionOutcome = NonNullable<StoredTables['transactions']['outcome']>;

/** One execution's part of a signed transaction. */
export type TransactionRow = StoredTables['transactions'] &
  Pick<StoredTables['signed_transactions'], 'last_valid_height' | 'bytes'> & {
    /** The fee of the whole transaction, lamports. */
    whole_fee: bigint;
  };

/** An execution with all transactions that were signed for it, in the order of kind and attempt. */
export type JournalRow = ExecutionColumns & { transactions: TransactionRow[] };
