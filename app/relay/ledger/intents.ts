/**
 * What the relay is about to do with money: each is on the disk before anything is done about it, so that neither a
 * killed process nor a power cut forgets what may have been sent.
 */
import type { Mover, Moving } from './moves.ts';
import { isWaiting, type JournalRow } from './tables.ts';
import type { NewTransaction } from './writing.ts';

/** The intents of one journal. All throw JournalConflict where the row may not move there. */
export function createIntents({ intend }: Mover) {
  return {
    /**
     * These bytes will be sent to fund the escrow; `reopens` counts, from 1, the times that the chain has rolled it back.
     */
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
    /** The answer is valid and these bytes will be sent to pay for it. */
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
    /** The caller gets its money back; from here on nothing settles. A refund that waits is still called so. */
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
          error_code: why.code,
          error_message: why.message,
          rebuilds: why.rebuilds,
        },
        signed,
      );
    },
    /** Too many rebuilds: a person has to look. The chain still lets anyone refund after refund_at. */
    parked(row: Moving): Promise<void> {
      return intend(row, 'parked', {});
    },
  };
}
