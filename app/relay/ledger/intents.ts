/**
 * Moves before money moves. Each is on the disk before the relay acts. Neither a killed process nor a power cut
 * therefore forgets a transaction that may have been sent.
 */
import type { Mover, Moving } from './moves.ts';
import { isWaiting, type JournalRow } from './tables.ts';
import type { NewTransaction } from './writing.ts';

/** The intents of one journal. All throw JournalConflict if the row may not move there. */
export function createIntents({ intend }: Mover) {
  return {
    /** These bytes will be sent to make the deposit's accounts. */
    depositSigned(row: Moving, signed: NewTransaction): Promise<void> {
      return intend(
        row,
        'deposit_signed',
        {
          deposit_transaction: Buffer.from(signed.bytes),
          deposit_signature: signed.signature,
          deposit_last_valid_height: signed.lastValidHeight,
        },
        signed,
      );
    },
    /** The payment with our signature. It is the only one that this deposit ever gets. */
    paySigned(row: Moving, signed: NewTransaction): Promise<void> {
      return intend(
        row,
        'pay_signed',
        {
          pay_transaction: Buffer.from(signed.bytes),
          pay_signature: signed.signature,
          pay_last_valid_height: signed.lastValidHeight,
        },
        signed,
      );
    },
    /** The deposit is closed; what was paid into it goes back to its payer. */
    returning(
      row: Moving & Pick<JournalRow, 'refund_state'>,
      signed: NewTransaction,
      why: { code: string; message: string; rebuilds: bigint },
    ): Promise<void> {
      return intend(
        row,
        'returning',
        {
          refund_transaction: Buffer.from(signed.bytes),
          refund_signature: signed.signature,
          refund_last_valid_height: signed.lastValidHeight,
          refund_state: isWaiting(row) ? row.refund_state : 'pending',
          is_waiting: 0n,
          error_code: why.code,
          error_message: why.message,
          rebuilds: why.rebuilds,
        },
        signed,
      );
    },
    /** These bytes will be sent to fund the escrow. `reopens` counts the rollbacks of the open by the chain, from 1. */
    openSigned(row: Moving, signed: NewTransaction, openBefore: bigint, reopens?: bigint): Promise<void> {
      return intend(
        row,
        'open_signed',
        {
          open_transaction: Buffer.from(signed.bytes),
          open_signature: signed.signature,
          open_last_valid_height: signed.lastValidHeight,
          open_before: openBefore,
          open_fee: signed.fee,
          ...(reopens !== undefined && { reopens }),
        },
        signed,
      );
    },
    /** The answer is valid, and these bytes will be sent to pay for it. */
    verified(row: Moving, signed: NewTransaction, executionTimeMs: bigint, rebuilds: bigint): Promise<void> {
      return intend(
        row,
        'verified',
        {
          settle_transaction: Buffer.from(signed.bytes),
          settle_signature: signed.signature,
          settle_last_valid_height: signed.lastValidHeight,
          execution_time_ms: executionTimeMs,
          rebuilds,
        },
        signed,
      );
    },
    /**
     * The caller gets its money back; from here on nothing settles. A refund that waits for an account keeps that
     * state.
     */
    refunding(
      row: Moving & Pick<JournalRow, 'refund_state'>,
      signed: NewTransaction,
      why: { reason: number; code: string; message: string; rebuilds: bigint },
    ): Promise<void> {
      return intend(
        row,
        'refunding',
        {
          refund_transaction: Buffer.from(signed.bytes),
          refund_signature: signed.signature,
          refund_last_valid_height: signed.lastValidHeight,
          refund_reason: BigInt(why.reason),
          refund_state: isWaiting(row) ? row.refund_state : 'pending',
          is_waiting: 0n,
          error_code: why.code,
          error_message: why.message,
          rebuilds: why.rebuilds,
        },
        signed,
      );
    },
    /** Too many rebuilds: a person has to check it. The chain still lets anyone refund after refund_at. */
    parked(row: Moving): Promise<void> {
      return intend(row, 'parked', {});
    },
  };
}
