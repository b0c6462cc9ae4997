/**
 * Moves that announce a transaction. Each is on the disk before the relay acts. So neither a killed process nor a power
 * cut loses a transaction that may have been sent.
 */
import type { Mover, Moving } from './moves.ts';
import { type OpenedRecord, openedBy } from './notes.ts';
import { type Culprit, isWaiting, type JournalRow } from './tables.ts';
import type { NewTransaction } from './writing.ts';

/** The intents of one journal. All throw JournalConflict if the row may not move there. */
export function createIntents(mover: Mover) {
  return { ...createDepositIntents(mover), ...createExecutionIntents(mover) };
}

/** The intents that create a deposit, pay into it, and return its money. */
function createDepositIntents({ intend }: Mover) {
  return {
    /** These bytes will be sent to make the deposit's accounts. */
    depositSigned(row: Moving, signed: NewTransaction): Promise<void> {
      return intend(row, 'deposit_signed', {}, { ...signed, kind: 'deposit' });
    },
    /** The payment with our signature. The relay signs no other payment of this deposit. */
    paySigned(row: Moving, signed: NewTransaction): Promise<void> {
      return intend(row, 'pay_signed', { payment: null }, { ...signed, kind: 'pay' });
    },
    /** These bytes will be sent to fund the escrow, before the payment is final. */
    openSignedEarly(row: Moving, signed: NewTransaction, openBefore: bigint): Promise<void> {
      return intend(row, 'pay_signed', { open_before: openBefore }, { ...signed, kind: 'open' });
    },
    /** These bytes will be sent to close the deposit and return its money to the payer. */
    returning(
      row: Moving & Pick<JournalRow, 'refund_state'>,
      signed: NewTransaction,
      why: { code: string; message: string; culprit: Culprit; rebuilds: bigint },
    ): Promise<void> {
      return intend(
        row,
        'returning',
        {
          refund_state: isWaiting(row) ? 'waiting' : 'pending',
          error_code: why.code,
          error_message: why.message,
          culprit: why.culprit,
          rebuilds: why.rebuilds,
        },
        { ...signed, kind: 'return' },
      );
    },
  };
}

/** The intents that fund an escrow, settle it, and refund it. */
function createExecutionIntents({ intend }: Mover) {
  return {
    /** These bytes will be sent to fund the escrow. */
    openSigned(row: Moving, signed: NewTransaction, openBefore: bigint): Promise<void> {
      return intend(row, 'open_signed', { open_before: openBefore }, { ...signed, kind: 'open' });
    },
    /** The answer is valid, and these bytes will be sent to pay for it. */
    verified(row: Moving, signed: NewTransaction, executionTimeMs: bigint, rebuilds: bigint): Promise<void> {
      const changes = { execution_time_ms: executionTimeMs, rebuilds };
      return intend(row, 'verified', changes, { ...signed, kind: 'settle' });
    },
    /**
     * The caller gets its money back, and the relay no longer settles. With `neverSent`, these bytes would fail, so their
     * wallet owes nothing for them.
     */
    refunding(
      row: Moving & Pick<JournalRow, 'refund_state'>,
      signed: NewTransaction,
      { neverSent, ...why }: WhyRefunded & { waits?: boolean; neverSent?: boolean },
    ): Promise<void> {
      const { state, changes } = refundingMove(row, why);
      return intend(row, state, changes, { ...signed, kind: 'refund', ...(neverSent && { outcome: 'expired' }) });
    },
    /**
     * Only a refund can end it: it was signed again too often, or, with `opened`, the open landed although it had been
     * given up. The operator is alerted.
     */
    parked(row: Moving, opened?: { record: OpenedRecord; slot: number }): Promise<void> {
      if (!opened) return intend(row, 'parked', {});
      const before = { refund_state: null, error_code: null, error_message: null };
      return intend(row, 'parked', { ...openedBy(opened.record, opened.slot), ...before });
    },
  };
}

/** Why an execution is refunded, for its caller, and how often a refund was signed again before. */
export interface WhyRefunded {
  reason: number;
  code: string;
  message: string;
  rebuilds: bigint;
}

/** The move of a row that is refunded. A refund that waits for an account keeps that state. */
export function refundingMove(
  row: Pick<JournalRow, 'refund_state'>,
  { waits = false, ...why }: WhyRefunded & { waits?: boolean },
) {
  const changes = {
    refund_reason: BigInt(why.reason),
    refund_state: waits || isWaiting(row) ? ('waiting' as const) : ('pending' as const),
    error_code: why.code,
    error_message: why.message,
    rebuilds: why.rebuilds,
  };
  return { state: 'refunding' as const, changes };
}
