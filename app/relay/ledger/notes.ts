/** Facts that the chain can show again. They are noted when seen, and reach the disk with the next intent. */
import { sql } from 'kysely';
import { nowMsOf } from '../../database/portable.ts';
import type { Mover, Moving } from './moves.ts';
import type { JournalRow, TransactionRow } from './tables.ts';
import { isShared, undecidedOf } from './transactions.ts';
import type { Writing } from './writing.ts';

/** What the record shows from the open on; times are unix seconds. */
export interface OpenedRecord {
  openedAt: bigint;
  refundAt: bigint;
}

/** The columns of a row whose record the chain showed in this slot. */
export const openedBy = (record: OpenedRecord, slot: number) => ({
  opened_at: record.openedAt,
  refund_at: record.refundAt,
  opened_slot: BigInt(slot),
});

type Collected = Pick<JournalRow, 'fee_lamports' | 'repaid_lamports' | 'gas_balance_lamports'>;

/** What the gas balance paid for its share of an open. The row has reserved the fee of a transaction of its own. */
function sharedFee(row: Collected, landed: TransactionRow | undefined): Partial<Collected> {
  if (!landed || !isShared(landed) || row.fee_lamports === 0n) return {};
  const fee = landed.fee + row.repaid_lamports;
  return { fee_lamports: fee, gas_balance_lamports: row.gas_balance_lamports - (row.fee_lamports - fee) };
}

/** How a deposit came back. */
interface Returned {
  landed?: TransactionRow | undefined;
  why?: { code: string; message: string };
}

/** What the callers of these notes count and log besides. */
export type Paying = Pick<
  JournalRow,
  'created_ms' | 'error_code' | 'fee_lamports' | 'gas_lamports' | 'listing' | 'opened_at' | 'repaid_lamports' | 'wallet'
>;

/** The notes of one journal. Its moves throw JournalConflict if the row may not move there. */
export function createNotes(mover: Mover, writing: Writing) {
  return { ...createProgressNotes(mover, writing), ...createEndNotes(mover) };
}

/** The notes of a row that continues. */
function createProgressNotes({ note }: Mover, { db }: Writing) {
  return {
    /** The deposit's accounts exist, so its payment can land. */
    depositConfirmed(row: Moving): Promise<void> {
      return note(row, 'deposit_confirmed', {}, { landed: undecidedOf(row, 'deposit') });
    },
    /** The payment is in the deposit. `slot` is one in which the chain showed it. */
    paid(row: Moving, slot: number): Promise<void> {
      const changes = { opened_slot: BigInt(slot), refund_state: null };
      return note(row, 'paid', changes, { landed: undecidedOf(row, 'pay') });
    },
    /** The payment is final, and the outcome of its open is next: that is on the disk already. */
    openFollowed(row: Moving): Promise<void> {
      return note(row, 'open_signed', {});
    },
    /** `slot` is one in which the chain showed the record. */
    openConfirmed(row: Moving & Collected, record: OpenedRecord, slot: number): Promise<void> {
      const landed = undecidedOf(row, 'open');
      return note(row, 'open_confirmed', { ...openedBy(record, slot), ...sharedFee(row, landed) }, { landed });
    },
    /** The creator is about to be called. Stores the time, on the clock that all relays share. */
    dispatched(row: Moving): Promise<void> {
      return note(row, 'dispatched', {}, { computed: { dispatched_ms: nowMsOf(db) } });
    },
    /** The refund waits for the caller's account; none of its transactions can land any more. It moves no row. */
    async refundWaits(id: string): Promise<void> {
      await db
        .updateTable('executions')
        .set({ refund_state: 'waiting' })
        .where('execution_id', '=', id)
        .where('state', 'in', ['refunding', 'returning'])
        .execute();
    },
    /** Time since the first call of the creator, milliseconds. */
    async msSinceDispatch(id: string): Promise<number> {
      const { ms } = await db
        .selectFrom('executions')
        .select(sql<bigint>`${nowMsOf(db)} - dispatched_ms`.as('ms'))
        .where('execution_id', '=', id)
        .executeTakeFirstOrThrow();
      return Math.max(0, Number(ms));
    },
  };
}

/** The notes that end a row. */
function createEndNotes({ note }: Mover) {
  return {
    /**
     * The deposit is closed, and its payer has the money back. `landed` is our return; without one, somebody else sent
     * it, or it is unknown who did. `why` is given if the row has none yet.
     */
    returned(row: Moving & Paying, returnedAt: bigint, { landed, why }: Returned = {}): Promise<void> {
      const error = why && { error_code: why.code, error_message: why.message };
      const changes = { settled_at: returnedAt, refund_state: 'done' as const, ...error };
      return note(row, 'returned', changes, { landed });
    },
    /** Amounts are base units. */
    settled(
      row: Moving & Paying,
      outcome: { settledAt: bigint; creatorAmount: bigint; platformAmount: bigint },
    ): Promise<void> {
      const changes = {
        settled_at: outcome.settledAt,
        creator_amount: outcome.creatorAmount,
        platform_amount: outcome.platformAmount,
      };
      return note(row, 'settled', changes, { landed: undecidedOf(row, 'settle') });
    },
    /** `landed` is our refund; without one, somebody else sent it. */
    refunded(row: Moving & Paying, settledAt: bigint, landed?: TransactionRow): Promise<void> {
      return note(row, 'refunded', { settled_at: settledAt, refund_state: 'done' as const }, { landed });
    },
    /**
     * The open never landed and never will, so its caller paid nothing. If the chain refused it in this slot, earlier
     * readings of the accounts are outdated.
     */
    void(
      row: Moving & Paying & Pick<JournalRow, 'accepted_at'>,
      code: string,
      message: string,
      slot?: number,
    ): Promise<void> {
      // No record has the time of this end, and the chain's clock may be ahead of ours.
      const now = BigInt(Math.floor(Date.now() / 1_000));
      return note(row, 'void', {
        settled_at: now > row.accepted_at ? now : row.accepted_at,
        error_code: code,
        error_message: message,
        ...(slot !== undefined && { opened_slot: BigInt(slot) }),
      });
    },
  };
}
