/** The transactions that were signed for executions. */
import type { Generated, Selectable } from 'kysely';
import type { Culprit } from './executions.ts';

/** `pay` is the client's payment into a deposit, `return` its refund. A move of an unclaimed refund counts as `refund`. */
export type TransactionKind = 'deposit' | 'pay' | 'open' | 'settle' | 'refund' | 'return';

/** The chain takes the fee of a landed and of a failed transaction. */
export type TransactionOutcome = 'landed' | 'failed' | 'expired';

/** Every transaction that was signed for an execution. */
export interface TransactionsTable {
  execution_id: string;
  kind: TransactionKind;
  /** 0 for the first of its kind. */
  attempt: bigint;
  signature: string;
  last_valid_height: bigint;
  /** Its cost if it lands, lamports. */
  fee: bigint;
  /** As far as this service has seen; null while unknown. */
  outcome: TransactionOutcome | null;
  /**
   * Whose doing it was that nobody pays the fee; null while nobody is known. The row has counted it since, if it was not
   * the operator's.
   */
  culprit: Generated<Culprit | null>;
  bytes: Buffer;
}

export type TransactionRow = Selectable<TransactionsTable>;
