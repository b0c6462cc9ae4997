/**
 * Moves that announce a transaction. Each is on the disk before the relay acts. So neither a killed process nor a power
 * cut loses a transaction that may have been sent.
 */
import { sql } from 'kysely';
import type { Named } from '../../database/prepared.ts';
import { type Budgets, hasRoom, meOf, meRow, resentBy, roomOf, SPENT } from './funding.ts';
import type { Mover, Moving } from './moves.ts';
import { type OpenedRecord, openedBy } from './notes.ts';
import { isWaiting, type JournalRow } from './tables.ts';
import { compilable, type NewTransaction, type Writing } from './writing.ts';

/** The intents of one journal. All throw JournalConflict if the row may not move there. */
export function createIntents(mover: Mover, writing: Writing) {
  return { ...createDepositIntents(mover), ...createExecutionIntents(mover, writing) };
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
    /** These bytes will be sent to close the deposit and return its money to the payer. */
    returning(
      row: Moving & Pick<JournalRow, 'refund_state'>,
      signed: NewTransaction,
      why: { code: string; message: string; rebuilds: bigint },
    ): Promise<void> {
      return intend(
        row,
        'returning',
        {
          refund_state: isWaiting(row) ? 'waiting' : 'pending',
          is_waiting: 0n,
          error_code: why.code,
          error_message: why.message,
          rebuilds: why.rebuilds,
        },
        { ...signed, kind: 'return' },
      );
    },
  };
}

/** The intents that fund an escrow, settle it, and refund it. */
function createExecutionIntents({ intend }: Mover, writing: Writing) {
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
     * The caller gets its money back, and the relay no longer settles. A refund that waits for an account keeps that
     * state. With `waits`, these bytes would fail and are not sent.
     */
    refunding(
      row: Moving & Pick<JournalRow, 'refund_state'>,
      signed: NewTransaction,
      why: { reason: number; code: string; message: string; rebuilds: bigint; waits?: boolean },
    ): Promise<void> {
      return intend(
        row,
        'refunding',
        {
          refund_reason: BigInt(why.reason),
          refund_state: why.waits || isWaiting(row) ? 'waiting' : 'pending',
          is_waiting: why.waits ? 1n : 0n,
          error_code: why.code,
          error_message: why.message,
          rebuilds: why.rebuilds,
        },
        { ...signed, kind: 'refund' },
      );
    },
    reserveRefund: (row: Waiting, budgets: Pick<Budgets, 'burnt'>) => reserveRefund(writing, row, budgets),
    /**
     * A person has to check it: too many rebuilds, or, with `opened`, the open landed although it had been given up. The
     * chain still lets anyone refund after refund_at.
     */
    parked(row: Moving, opened?: { record: OpenedRecord; slot: number }): Promise<void> {
      if (!opened) return intend(row, 'parked', {});
      const before = { refund_state: null, is_waiting: 0n, error_code: null, error_message: null };
      return intend(row, 'parked', { ...openedBy(opened.record, opened.slot), ...before });
    },
  };
}

type Waiting = Pick<JournalRow, 'execution_id' | 'wallet' | 'listing' | 'may_burn_lamports' | 'is_waiting'>;

/**
 * Reserves the fees of a waiting refund that will be signed again. One statement sums and reserves, so concurrent
 * refunds and relays never exceed the limits together. Returns false if the budgets have no room.
 */
async function reserveRefund(writing: Writing, row: Waiting, budgets: Pick<Budgets, 'burnt'>): Promise<boolean> {
  if (row.is_waiting === 0n) return true;
  const { execution_id: id, wallet, listing } = row;
  const { writes, db, owner, compile } = writing;
  const me = meOf({ id, wallet, listing, keyId: '', slot: 0n, nowMs: BigInt(Date.now()) });
  const values = { ...me, owner, ...roomOf(resentBy(budgets, row.may_burn_lamports === 0n)) };
  const reserving = (named: Named<typeof values>) => sql`
    WITH ${meRow(named)}, ${SPENT}
    UPDATE executions SET is_waiting = 0
    WHERE execution_id = ${named.me_id} AND lease_owner = ${named.owner} AND is_waiting = 1 AND ${hasRoom(named)}`;
  const query = compile('reserve a refund', values, (named) => compilable(db, reserving(named)));
  const [reserved] = await writes.alone([`wallet ${wallet}`, 'totals'], [query]);
  if (reserved?.changes !== 1) return false;
  row.is_waiting = 0n;
  return true;
}
