/** The steps of a deposit, one for each state. A deposit takes the payment of an x402 client for a call. */
import type { JournalRow } from '../ledger/tables.ts';
import { createDepositReader, isOpenedFrom, isPaid, unpaid, type Why, whyNotToOpen } from './depositAt.ts';
import type { Ending } from './ending.ts';
import { createPaying } from './paying.ts';
import { createReturning } from './returning.ts';
import { OPEN_WINDOW_SECONDS, signOpen } from './sign.ts';
import type { EngineDeps, Live, Step } from './step.ts';

/**
 * Errors after which a second open may succeed. The first was too late, or the chain had rolled back the payment or the
 * deposit. Without the deposit the error is not one of this program, so it is null.
 */
const OUT_OF_TIME: readonly (string | null)[] = ['OpenTooLate', 'DepositUnfunded', null];

export type Depositing = ReturnType<typeof createDepositing>;

/** Creates the steps of a deposit. */
export function createDepositing(deps: EngineDeps, ending: Pick<Ending, 'isDead' | 'mayBurn'>, stopping: AbortSignal) {
  const { chain, journal } = deps;
  const { read, readPast } = createDepositReader(deps);
  const returning = createReturning(deps, ending, stopping);
  const { giveBack, endUnpaid } = returning;
  const { prepare, pay, follow, open, withoutMoney } = createPaying(deps, returning, stopping);

  /** True if the open took the deposit. */
  const isOpened = async (row: JournalRow): Promise<boolean> => isOpenedFrom(row, await read(row));

  /** Signs the open with our authority, because the authority that signed it was removed. */
  async function openAgain(row: JournalRow, openBefore: bigint): Promise<Step> {
    const { deposit } = await read(row);
    if (!deposit) return 'wait';
    await journal.openSigned(row, await signOpen(chain, row, deps, openBefore, deposit.rentSponsor), openBefore);
    return 'next';
  }

  /**
   * Handles an open that failed or expired. Signs it again if it can still succeed; otherwise sends the deposit back.
   * `refusal` is the program's error, null for any other failure, undefined if the open expired and cost nothing.
   */
  async function notOpened(row: JournalRow, live: Live, why: Why, refusal?: string | null): Promise<Step> {
    const at = await read(row);
    if (isOpenedFrom(row, at)) return 'wait';
    if (!isPaid(row, at)) return withoutMoney(row, live, at);
    const obstacle = whyNotToOpen(row, at);
    const mayLand = refusal === undefined || (OUT_OF_TIME.includes(refusal) && row.reopens === 0n);
    if (obstacle || !mayLand) return giveBack(row, at, obstacle ?? why);
    const openBefore = at.now + OPEN_WINDOW_SECONDS;
    const signed = await signOpen(chain, row, deps, openBefore, at.deposit!.rentSponsor);
    await journal.openSigned(row, signed, openBefore, refusal === undefined ? undefined : 1n);
    return 'next';
  }

  /**
   * Handles an open execution whose record is gone: the chain rolled back its open, and maybe the payment before it.
   * Opens the deposit once more, or sends it back.
   */
  async function withoutRecord(row: JournalRow, live: Live): Promise<Step> {
    const at = await read(row);
    // Send only the first missing transaction: without it, the later ones would fail permanently.
    const lost = !at.deposit ? row.deposit_transaction : isPaid(row, at) ? row.open_transaction : row.pay_transaction;
    if (lost && !at.record) await chain.send(lost);
    const final = await readPast(row, row.open_last_valid_height ?? 0n);
    if (!final || isOpenedFrom(row, final) || final.now <= (row.open_before ?? 0n)) return 'wait';
    if (!isPaid(row, final)) return endUnpaid(row, live, final, unpaid('The chain rolled back the payment'));
    const why = whyNotToOpen(row, final);
    const isUndecided = row.state !== 'refunding' && row.state !== 'parked' && row.reopens === 0n;
    if (why || !isUndecided) {
      return giveBack(row, final, why ?? { code: 'service_unavailable', message: 'The chain rolled back the escrow' });
    }
    const openBefore = final.now + OPEN_WINDOW_SECONDS;
    const signed = await signOpen(chain, row, deps, openBefore, final.deposit!.rentSponsor);
    await journal.openSigned(row, signed, openBefore, 1n);
    return 'next';
  }

  /** Runs the step of the row's state. */
  function step(row: JournalRow, live: Live): Promise<Step> {
    switch (row.state) {
      case 'deposit_signed':
        return prepare(row, live);
      case 'deposit_confirmed':
        return pay(row, live);
      case 'pay_signed':
        return follow(row);
      case 'paid':
        return open(row, live);
      default:
        return returning.sendBack(row, live);
    }
  }

  return { step, isOpened, openAgain, notOpened, withoutRecord };
}
