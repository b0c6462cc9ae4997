/**
 * Opens an execution from a deposit as soon as a node shows the payment, so that payment and open become final together.
 * A node that shows the payment has executed it, so a later block takes the open, unless the payment's block is dropped.
 * Then the open fails, and is signed again.
 */
import { ApiError } from '../../errors.ts';
import type { JournalRow } from '../../ledger/tables.ts';
import { lastOf, transactionsOf } from '../../ledger/transactions.ts';
import type { SignedTransaction } from '../../ledger/writing.ts';
import { type EngineDeps, type Progress, takeOpening } from '../deps.ts';
import { borne, partIn, type Sharing } from '../sharing.ts';
import { OPEN_WINDOW_SECONDS, partOfOpen, signOpen } from '../sign.ts';
import { createDepositReader, type DepositAt, isOpenedFrom, isPaid, whyNotToOpen } from './depositAt.ts';

const hasOpen = (row: JournalRow): boolean => transactionsOf(row, 'open').length > 0;

/** True if an open is stored that may land. */
export const isOpenUndecided = (row: JournalRow): boolean =>
  transactionsOf(row, 'open').some(({ outcome }) => outcome === null);

/** True if the deposit has its money, or our open has taken it already. */
export const hasReceived = (row: JournalRow, at: DepositAt): boolean =>
  isPaid(row, at) || (hasOpen(row) && isOpenedFrom(row, at));

/** Creates what opens from deposits. */
export function createEarlyOpen(deps: EngineDeps, sharing: Pick<Sharing, 'share'>, stopping: AbortSignal) {
  const { chain, journal } = deps;
  const { read } = createDepositReader(deps);

  /** Signs, stores and sends the open once a node shows the payment. Does nothing once `known` says its outcome. */
  async function openEarly(
    row: JournalRow,
    progress: Progress,
    payment: SignedTransaction,
    known: AbortSignal,
  ): Promise<void> {
    // After a crash the stored open is sent when the payment is final.
    if (hasOpen(row) || !(await chain.untilSeen(payment.signature, known))) return;
    if (!(await store(row))) return;
    const stored = lastOf(row, 'open');
    progress.opening = { signature: stored.signature, outcome: send(row, stored) };
  }

  /** False if the execution can no longer be opened, or if the node does not answer. That costs only time. */
  async function store(row: JournalRow): Promise<boolean> {
    const at = await read(row).catch(() => null);
    if (!at?.deposit || whyNotToOpen(row, at)) return false;
    try {
      await sign(row, at, 'pay_signed');
      return true;
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  }

  /**
   * Signs and stores the open of this deposit, alone or together with others. `state` is that of the row after it. Throws
   * ApiError 503 if the node does not answer.
   */
  async function sign(row: JournalRow, at: DepositAt, state: 'pay_signed' | 'open_signed'): Promise<void> {
    const openBefore = at.now + OPEN_WINDOW_SECONDS;
    const { rentSponsor } = at.deposit!;
    // A payer that prepared the deposit itself may have named an account that delays the transactions of others.
    const mayShare = rentSponsor.equals(chain.authority);
    const partOf = async () => ({ ...partOfOpen(chain, row, deps, openBefore), state });
    if (mayShare && (await sharing.share('buy', row, partOf))) return;
    const signed = await signOpen(chain, row, deps, openBefore, rentSponsor);
    if (state === 'pay_signed') await journal.openSignedEarly(row, signed, openBefore);
    else await journal.openSigned(row, signed, openBefore);
  }

  const send = (row: JournalRow, signed: SignedTransaction) =>
    chain.submit(signed, async () => isOpenedFrom(row, await read(row)), stopping);

  /**
   * Follows the open of a payment that is dead. True if it can no longer land. If it has failed, nobody but the operator
   * caused that.
   */
  async function isDead(row: JournalRow, progress: Progress): Promise<boolean> {
    if (!isOpenUndecided(row)) return true;
    const signed = lastOf(row, 'open');
    const outcome = await (takeOpening(progress, signed) ?? send(row, signed));
    const part = partIn(row, signed, outcome);
    if (part === 'others' || outcome.kind === 'expired') await journal.decided(row, signed, 'expired');
    else if (outcome.kind === 'failed') await journal.failed(row, borne(signed, part), 'operator');
    return outcome.kind === 'failed' || outcome.kind === 'expired';
  }

  return { openEarly, sign, isDead };
}
