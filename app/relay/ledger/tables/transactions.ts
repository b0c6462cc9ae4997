/** The transactions that were signed for executions. */
import type { Generated, Selectable } from 'kysely';
import type { Culprit } from './executions.ts';

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

/** One execution's part of a signed transaction. */
export type TransactionRow = Selectable<TransactionsTable> &
  Pick<SignedTransactionsTable, 'last_valid_height' | 'bytes'> & {
    /** The fee of the whole transaction, lamports. */
    whole_fee: bigint;
  };
