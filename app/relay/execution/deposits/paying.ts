/**
 * Takes a payment: creates the deposit's accounts, signs the payment, and opens the execution as soon as a node shows the
 * payment. Open and payment become final together, so the caller does not wait for one after the other. We sign only one
 * payment for each deposit. It is on the disk before it is sent, so a repeat never pays twice.
 */
import { VersionedTransaction } from '@solana/web3.js';
import type { Outcome } from '../../chain/confirmations.ts';
import type { Culprit, JournalRow } from '../../ledger/tables.ts';
import { isRefused, lastOf, transactionsOf } from '../../ledger/transactions.ts';
import type { EngineDeps, Progress, Step } from '../deps.ts';
import { followGone } from '../recovery/gone.ts';
import { borne, isInUpgrade, partIn, type Sharing } from '../sharing.ts';
import { signDeposit } from '../sign.ts';
import { WOULD_FAIL } from './buying.ts';
import {
  createDepositReader,
  type DepositAt,
  isExpiring,
  isOpenedFrom,
  isPaid,
  totalOf,
  unpaid,
  type Why,
  whyNotToOpen,
} from './depositAt.ts';
import { createEarlyOpen, hasReceived, isOpenUndecided } from './earlyOpen.ts';
import type { Returning } from './returning.ts';

const NOT_OURS = unpaid('The deposit was prepared again for another wallet', 'operator');
const SENT_BACK: Why = {
  code: 'service_unavailable',
  message: 'The payment was sent back before the call began',
  culprit: 'operator',
};
/** Time from a payment's arrival after which its expiry is ours to bear: the relay was slow, or down. */
const PROMPT_MS = 30_000;

/** Creates the steps from a deposit's accounts to its open. */
export function createPaying(
  deps: EngineDeps,
  returning: Pick<Returning, 'giveBack' | 'endUnpaid'>,
  sharing: Pick<Sharing, 'share' | 'exclude'>,
  stopping: AbortSignal,
) {
  const { prepare } = createPreparing(deps, returning, sharing, stopping);
  return { prepare, ...createPayment(deps, returning, sharing, stopping) };
}

/** Creates the step that makes the deposit's accounts. */
function createPreparing(
  deps: EngineDeps,
  { endUnpaid }: Pick<Returning, 'endUnpaid'>,
  sharing: Pick<Sharing, 'exclude'>,
  stopping: AbortSignal,
) {
  const { chain, journal } = deps;
  const { read, readPast } = createDepositReader(deps);

  /** Creates the deposit's accounts. The payment follows only when they exist, because without them it would fail. */
  async function prepare(row: JournalRow, progress: Progress): Promise<Step> {
    const isPrepared = (at: DepositAt) => at.deposit?.caller.toBase58() === row.wallet;
    const signed = lastOf(row, 'deposit');
    let outcome: Outcome = { kind: 'confirmed' };
    if (progress.isFresh || !isPrepared(await read(row))) {
      progress.isFresh = false;
      outcome = await chain.submit(signed, async () => isPrepared(await read(row)), stopping);
    }
    if (outcome.kind === 'unknown') return 'wait';
    const part = partIn(row, signed, outcome);
    const isOperators = part === 'unknown' || isInUpgrade(row, 'deposit', outcome);
    if (part === 'others') await journal.decided(row, signed, 'expired');
    else if (outcome.kind === 'failed') {
      // Its payer may have prepared the deposit itself.
      if (part === 'own') sharing.exclude(row.wallet);
      await journal.failed(row, borne(signed, part), isOperators ? 'operator' : null);
    }
    const at = await read(row);
    if (isPrepared(at)) {
      await journal.depositConfirmed(row);
      return 'next';
    }
    if (part === 'others' || isOperators) {
      const again = await signDeposit(chain, row, deps);
      if (isRefused(row, again)) return 'wait';
      await journal.depositSigned(row, again);
      return 'next';
    }
    const past = outcome.kind === 'failed' ? at : await readPast(row, signed.lastValidHeight);
    if (!past || isPrepared(past)) return 'wait';
    if (outcome.kind === 'expired') await journal.decided(row, signed, 'expired');
    return endUnpaid(row, progress, past, unpaid('The deposit for this payment could not be created', 'operator'));
  }

  return { prepare };
}

/** Creates the steps from the payment to the open. */
function createPayment(
  deps: EngineDeps,
  { giveBack, endUnpaid }: Pick<Returning, 'giveBack' | 'endUnpaid'>,
  sharing: Pick<Sharing, 'share'>,
  stopping: AbortSignal,
) {
  const { chain, journal } = deps;
  const { read, readPast } = createDepositReader(deps);
  const early = createEarlyOpen(deps, sharing, stopping);

  /** Signs the payment if it can still land and nothing has changed. Without this signature nobody can send it. */
  async function pay(row: JournalRow, progress: Progress): Promise<Step> {
    const at = await read(row);
    if (!at.deposit) {
      // Anyone may close it once it has expired.
      const past = await readPast(row, lastOf(row, 'deposit').lastValidHeight);
      if (!past || past.deposit) return 'wait';
      return endUnpaid(row, progress, past, unpaid('The deposit for this payment was closed', 'operator'));
    }
    // A thief of a relay authority can prepare the deposit again for itself. A payment that we do not sign cannot land.
    if (at.deposit.caller.toBase58() !== row.wallet) return endUnpaid(row, progress, at, NOT_OURS);
    if (isPaid(row, at)) return notePaid(row, at);
    const why =
      whyNotToPay(row, at) ??
      whyNotToOpen(row, at) ??
      (await whyItWouldFail(chain, row)) ??
      (await whyItIsTooLate(chain, row));
    if (why) return giveBack(row, at, why);
    await journal.paySigned(row, chain.countersign(row.payment!, row.payment_last_valid_height!));
    return 'next';
  }

  /** Sends the payment until its outcome is known, and the open as soon as a node shows the payment. */
  async function follow(row: JournalRow, progress: Progress): Promise<Step> {
    const signed = lastOf(row, 'pay');
    const hasHappened = async () => {
      const at = await read(row);
      return isPaid(row, at) || isOpenedFrom(row, at);
    };
    const known = new AbortController();
    const paying = chain.submit(signed, hasHappened, stopping).finally(() => known.abort());
    await early.openEarly(row, progress, signed, known.signal);
    const outcome = await paying;
    if (outcome.kind === 'unknown') return 'wait';
    if (outcome.kind === 'failed') await journal.failed(row, signed, null);
    const at = await read(row);
    if (hasReceived(row, at)) return notePaid(row, at);
    // If a landed payment has no visible effect, a node is wrong. Only a reading past its last valid height decides.
    const past = outcome.kind === 'failed' ? at : await readPast(row, signed.lastValidHeight);
    if (!past) return 'wait';
    if (hasReceived(row, past)) return notePaid(row, past);
    if (outcome.kind === 'expired') await journal.decided(row, signed, 'expired');
    // Without the payment its open fails. Nobody but us caused that.
    if (!(await early.isDead(row, progress))) return 'wait';
    if (outcome.kind === 'failed')
      return giveBack(row, past, unpaid(`The payment failed: ${outcome.message}`, 'wallet'));
    return giveBack(row, past, unpaid('The payment expired before it landed', 'wallet'));
  }

  async function notePaid(row: JournalRow, { slot }: DepositAt): Promise<Step> {
    await journal.paid(row, slot);
    return 'next';
  }

  /** Signs the open of a paid deposit, or the return if the execution cannot be opened. */
  async function openPaid(row: JournalRow, progress: Progress): Promise<Step> {
    const at = await read(row);
    if (at.record && isOpenedFrom(row, at)) {
      await journal.openConfirmed(row, at.record, at.slot);
      return 'next';
    }
    if (isOpenUndecided(row)) {
      await journal.openFollowed(row);
      return 'next';
    }
    if (!isPaid(row, at)) return withoutMoney(row);
    const why = whyNotToOpen(row, at);
    if (why) return giveBack(row, at, why);
    await early.sign(row, at, 'open_signed');
    progress.isFresh = true;
    return 'next';
  }

  /**
   * Handles a paid deposit without its money. A node lags, or somebody refunded the deposit, which anyone may do once it
   * has expired.
   */
  async function withoutMoney(row: JournalRow): Promise<Step> {
    const past = await readPast(row, row.payment_last_valid_height!);
    if (!past || isPaid(row, past) || isOpenedFrom(row, past)) return 'wait';
    if (past.deposit) return giveBack(row, past, SENT_BACK);
    const left = past.record ? null : await followGone(deps, row, past);
    if (left) return left;
    await journal.returned(row, past.now, { why: SENT_BACK });
    return 'ended';
  }

  return { pay, follow, openPaid, withoutMoney };
}

/** The accounts may have changed since the payment was tried. A payment that fails would still cost our fee. */
async function whyItWouldFail(chain: EngineDeps['chain'], { payment }: JournalRow): Promise<Why | null> {
  // If the node does not answer, the payment is signed: the chain decides in the end.
  const failing = await chain.wouldFail(payment!).catch(() => null);
  return failing && unpaid(WOULD_FAIL, failing === 'payer' ? 'operator' : 'wallet');
}

/**
 * The client chooses the blockhash. Otherwise an old one would be a free way to make us pay for a deposit. A deposit that
 * was signed again has delayed the payment; those that the wallet or the listing bears are of earlier calls with this id.
 */
function culpritOfExpiry(row: JournalRow): Culprit {
  const isPrompt = Date.now() - Number(row.created_ms) < PROMPT_MS;
  const deposits = transactionsOf(row, 'deposit').filter(({ culprit }) => culprit === null || culprit === 'operator');
  return isPrompt && deposits.length === 1 ? 'wallet' : 'operator';
}

/**
 * A dead payment is not signed: nobody would know that it is dead before its last height, up to 150 blocks later. The
 * deposit took a finality or more since the payment was checked, and the relay may have been down. Throws if the node
 * does not answer.
 */
async function whyItIsTooLate(chain: EngineDeps['chain'], row: JournalRow): Promise<Why | null> {
  const { recentBlockhash } = VersionedTransaction.deserialize(row.payment!).message;
  const isAlive = (await chain.lastHeightOf(recentBlockhash)) !== null;
  return isAlive ? null : unpaid('The payment has expired', culpritOfExpiry(row));
}

function whyNotToPay(row: JournalRow, { payable, now, deposit }: DepositAt): Why | null {
  if (payable < totalOf(row)) {
    return unpaid('The USDC account of the payer no longer holds the amount', 'wallet');
  }
  if (!deposit || isExpiring(deposit, now)) {
    return unpaid('The deposit for this payment has expired or expires soon', 'operator');
  }
  return null;
}
