/**
 * Opens an execution from a deposit as soon as a node shows the payment, so that payment and open become final together.
 * A node that shows the payment has executed it, so a later block takes the open, unless the payment's block is dropped.
 * Then the open fails, and is signed again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalRow } from '../ledger/tables.ts';
import { lastOf, transactionsOf } from '../ledger/transactions.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import { createDepositReader, type DepositAt, isOpenedFrom, isPaid, whyNotToOpen } from './depositAt.ts';
import { type EngineDeps, type Progress, takeOpening } from './deps.ts';
import { OPEN_WINDOW_SECONDS, signOpen } from './sign.ts';

/** How often a node is asked for a payment that is on its way: once a slot. */
const POLL_MS = 200;

const hasOpen = (row: JournalRow): boolean => transactionsOf(row, 'open').length > 0;

/** True if an open is stored that may land. */
export const isOpenUndecided = (row: JournalRow): boolean =>
  transactionsOf(row, 'open').some(({ outcome }) => outcome === null);

/** True if the deposit has its money, or our open has taken it already. */
export const isTaken = (row: JournalRow, at: DepositAt): boolean =>
  isPaid(row, at) || (hasOpen(row) && isOpenedFrom(row, at));

/** Creates the part of the payment's step that opens. */
export function createEarlyOpen(deps: EngineDeps, stopping: AbortSignal) {
  const { chain, journal } = deps;
  const { read } = createDepositReader(deps);

  /** Signs, stores and sends the open once a node shows the payment. Does nothing once `known` says its outcome. */
  async function open(
    row: JournalRow,
    progress: Progress,
    payment: SignedTransaction,
    known: AbortSignal,
  ): Promise<void> {
    // After a crash the stored open is sent when the payment is final.
    if (hasOpen(row) || !(await isSeen(payment.signature, known))) return;
    // A failure costs only time: the open is then signed when the payment is final.
    const signed = await sign(row).catch(() => null);
    if (!signed) return;
    await journal.openSignedEarly(row, signed.open, signed.openBefore);
    const stored = lastOf(row, 'open');
    progress.opening = { signature: stored.signature, outcome: send(row, stored) };
  }

  /** True once a node shows the transaction, final or not. False if its outcome was known before. */
  async function isSeen(signature: string, known: AbortSignal): Promise<boolean> {
    while (!known.aborted) {
      if (await chain.isSeen(signature).catch(() => false)) return !known.aborted;
      await sleep(POLL_MS, undefined, { signal: known }).catch(() => undefined);
    }
    return false;
  }

  /** Null if the execution can no longer be opened. */
  async function sign(row: JournalRow) {
    const at = await read(row);
    if (!at.deposit || whyNotToOpen(row, at)) return null;
    const openBefore = at.now + OPEN_WINDOW_SECONDS;
    return { open: await signOpen(chain, row, deps, openBefore, at.deposit.rentSponsor), openBefore };
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
    const { kind } = await (takeOpening(progress, signed) ?? send(row, signed));
    if (kind === 'failed') await journal.failed(row, signed, 'operator');
    if (kind === 'expired') await journal.decided(row, signed, 'expired');
    return kind === 'failed' || kind === 'expired';
  }

  return { open, isDead };
}
