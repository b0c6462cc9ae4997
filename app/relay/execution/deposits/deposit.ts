/** The steps of a deposit, one for each state. A deposit takes the payment of an x402 client for a call. */
import type { JournalRow } from '../../ledger/tables.ts';
import { transactionsOf } from '../../ledger/transactions.ts';
import type { EngineDeps, Progress, Step } from '../deps.ts';
import type { Ending } from '../ending.ts';
import type { Sharing } from '../sharing.ts';
import { OPEN_WINDOW_SECONDS, signOnceMore } from '../sign.ts';
import { createDepositReader, isOpenedFrom, isPaid, type Why, whyNotToOpen } from './depositAt.ts';
import { createPaying } from './paying.ts';
import { createReturning } from './returning.ts';

export type Depositing = ReturnType<typeof createDepositing>;

/** Creates the steps of a deposit. */
export function createDepositing(
  deps: EngineDeps,
  ending: Pick<Ending, 'isByRemovedAuthority'>,
  sharing: Pick<Sharing, 'share' | 'exclude'>,
  stopping: AbortSignal,
) {
  const { read } = createDepositReader(deps);
  const returning = createReturning(deps, ending, stopping);
  const { giveBack } = returning;
  const { prepare, pay, follow, openPaid, withoutMoney } = createPaying(deps, returning, sharing, stopping);

  /** True if the open took the deposit. */
  const isOpened = async (row: JournalRow): Promise<boolean> => isOpenedFrom(row, await read(row));

  /** Signs the open again, with our authority. */
  async function openAgain(row: JournalRow, openBefore: bigint): Promise<Step> {
    const { deposit } = await read(row);
    if (!deposit) return 'wait';
    return signOnceMore(deps, row, openBefore, deposit.rentSponsor);
  }

  /**
   * Handles an open that failed or expired. Signs it again if it can still succeed; otherwise sends the deposit back.
   * `refusal` is the program's error, null for any other failure, undefined if the open expired and cost nothing. An
   * open that was too late, or came before its payment, is signed again once.
   */
  async function notOpened(row: JournalRow, why: Why, refusal?: string | null): Promise<Step> {
    const at = await read(row);
    if (isOpenedFrom(row, at)) return 'wait';
    if (!isPaid(row, at)) return withoutMoney(row);
    const obstacle = whyNotToOpen(row, at);
    // A transaction that failed as a whole, with other calls, shows nothing about this one.
    const failed = transactionsOf(row, 'open').filter(
      ({ outcome, culprit }) => outcome === 'failed' && culprit !== 'operator',
    );
    const isUntimely = refusal === 'OpenTooLate' || refusal === 'DepositUnfunded';
    const mayLand = refusal === undefined || (isUntimely && failed.length === 1);
    if (obstacle || !mayLand) return giveBack(row, at, obstacle ?? why);
    return signOnceMore(deps, row, at.now + OPEN_WINDOW_SECONDS, at.deposit!.rentSponsor);
  }

  /** Runs the step of the row's state. */
  function step(row: JournalRow, progress: Progress): Promise<Step> {
    switch (row.state) {
      case 'deposit_signed':
        return prepare(row, progress);
      case 'deposit_confirmed':
        return pay(row, progress);
      case 'pay_signed':
        return follow(row, progress);
      case 'paid':
        return openPaid(row, progress);
      default:
        return returning.sendBack(row, progress);
    }
  }

  return { step, isOpened, openAgain, notOpened };
}
