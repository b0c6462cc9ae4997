/** Sends a deposit back to its payer, and closes it, paid or not. */
import { UPGRADING } from '../../chain/failures.ts';
import { type Culprit, isWaiting, type JournalRow, type TransactionRow } from '../../ledger/tables.ts';
import { isRefused, lastOf, transactionsOf, undecidedOf } from '../../ledger/transactions.ts';
import type { NewTransaction } from '../../ledger/writing.ts';
import type { EngineDeps, Progress, Step } from '../deps.ts';
import type { Ending } from '../ending.ts';
import { hasLanded } from '../recovery/gone.ts';
import { isHeldBack } from '../refund.ts';
import { signReturn } from '../sign.ts';
import { createDepositReader, type DepositAt, isExpiring, isOpenedFrom, isPaid, type Why } from './depositAt.ts';

export type Returning = ReturnType<typeof createReturning>;

/** A return is signed again at most this often without a rest. */
const MAX_REBUILDS = 5n;

/** Errors for a return by a removed authority, for a sponsor of the operator that cannot take the rent, and in an upgrade. */
const BY_OPERATOR: readonly (string | null)[] = ['DepositNotExpired', 'InvalidRentSponsor', UPGRADING];

/** Whose doing it was that the chain refused a return. */
const culpritOf = (error: string | null): Culprit => (BY_OPERATOR.includes(error) ? 'operator' : 'wallet');

/** Creates the steps that return a deposit. */
export function createReturning(deps: EngineDeps, ending: Pick<Ending, 'isByRemovedAuthority'>, stopping: AbortSignal) {
  const { chain, journal, log } = deps;
  const { read, readPast } = createDepositReader(deps);

  /**
   * Signs and stores the return of a deposit, paid or not. Its rent is returned too. A paid deposit in its last minute
   * waits until it has expired: then its payer also gets the service fee.
   */
  async function giveBack(row: JournalRow, at: DepositAt, why: Why, rebuilds = 0n): Promise<Step> {
    const { deposit, now } = at;
    if (deposit && isPaid(row, at) && isExpiring(deposit, now) && now < deposit.expiresAt) return 'wait';
    const signed = await sign(row, at, rebuilds);
    if (isRefused(row, signed)) return 'wait';
    await journal.returning(row, signed, { ...why, rebuilds });
    return 'next';
  }

  function sign(row: JournalRow, at: DepositAt, rebuilds = 0n): Promise<NewTransaction> {
    const { deposit, now } = at;
    const isWhole = deposit !== null && isPaid(row, at) && now >= deposit.expiresAt;
    const rentSponsor = deposit?.rentSponsor ?? chain.authority;
    return signReturn(chain, row, { usdcMint: deps.usdcMint, rentSponsor, isWhole, attempt: Number(rebuilds) });
  }

  /** Sends the return until the deposit is gone, or stays without its money. */
  async function sendBack(row: JournalRow, progress: Progress): Promise<Step> {
    const at = await read(row);
    // A node was wrong: the open has landed after all.
    const opens = transactionsOf(row, 'open').map(({ signature }) => signature);
    if (at.record && isOpenedFrom(row, at) && opens.length > 0 && !(await deps.isReturned(row.deposit!))) {
      // A node may lag or have dropped the status. If the payer opened the same record itself, the row ends once the
      // index knows the deposit's refund.
      if (!(await hasLanded(chain, opens))) return 'wait';
      log.error({ execution_id: row.execution_id }, 'parked an execution: its open has landed after it was given up');
      await journal.parked(row, { record: at.record, slot: at.slot });
      return 'rest';
    }
    if (!at.deposit) return endReturn(row, progress, at);
    const why = whyOf(row);
    let signed = lastOf(row, 'return');
    if (ending.isByRemovedAuthority(signed)) return giveBack(row, at, why, row.rebuilds);
    if (isWaiting(row)) {
      // Most polls end here, without a simulation.
      if (isPaid(row, at) && at.isStuck) return waitForAccount(row);
      const again = await sign(row, at);
      if (await chain.simulate(again.bytes)) return waitForAccount(row);
      if (await isHeldBack(deps, row, at.now, at.deposit.expiresAt)) return 'rest';
      if (isRefused(row, again)) return 'rest';
      await journal.returning(row, again, { ...why, rebuilds: row.rebuilds });
      signed = lastOf(row, 'return');
    }
    const outcome = await chain.submit(signed, async () => (await read(row)).deposit === null, stopping);
    if (outcome.kind === 'unknown') return 'wait';
    const isPast = outcome.kind !== 'failed';
    const fresh =
      isPast && outcome.kind !== 'confirmed' ? await readPast(row, signed.lastValidHeight) : await read(row);
    if (!fresh) return 'wait';
    if (outcome.kind === 'expired') await journal.decided(row, signed, 'expired');
    // If the deposit is gone, the end of the row shows who bears the fee, except that of an upgrade.
    if (outcome.kind === 'failed') {
      const isKnown = fresh.deposit !== null || outcome.error === UPGRADING;
      await journal.failed(row, signed, isKnown ? culpritOf(outcome.error) : null);
    }
    if (!fresh.deposit) return 'next';
    if (outcome.kind === 'confirmed') return endEmptied(row, progress);
    const byAccount = outcome.kind === 'failed' && (isWaiting(row) || outcome.error === 'RefundDestinationUnusable');
    if (byAccount) return waitForAccount(row);
    if (row.rebuilds < MAX_REBUILDS) return giveBack(row, fresh, why, row.rebuilds + 1n);
    log.error(
      { execution_id: row.execution_id, outcome: outcome.kind },
      'a deposit cannot be returned; trying again later',
    );
    await giveBack(row, fresh, why, row.rebuilds);
    return 'rest';
  }

  /**
   * Ends a row whose return has landed although the deposit still exists: its rent sponsor cannot take the rent, so only
   * the money went back. A node may be wrong: only a reading past the return's last valid height decides.
   */
  async function endEmptied(row: JournalRow, progress: Progress): Promise<Step> {
    const { signature, lastValidHeight } = lastOf(row, 'return');
    const past = await readPast(row, lastValidHeight);
    if (!past) return 'wait';
    if (!past.deposit) return 'next';
    // Money that was paid in later waits too: anyone may refund it once the deposit has expired.
    if (!past.isEmpty || !(await chain.hasSucceeded(signature))) return 'wait';
    log.warn(
      { execution_id: row.execution_id },
      'a returned deposit stays, because its rent sponsor cannot take the rent',
    );
    return endReturn(row, progress, past);
  }

  async function waitForAccount(row: JournalRow): Promise<Step> {
    await journal.refundWaits(row.execution_id);
    return 'rest';
  }

  /** Ends a row whose deposit is gone, or empty, without an open. */
  async function endReturn(row: JournalRow, progress: Progress, at: DepositAt): Promise<Step> {
    // Nobody has seen the payment.
    if (row.opened_slot === null) return endUnpaid(row, progress, at, whyOf(row));
    await journal.returned(row, at.now, { landed: await landedReturn(chain, row) });
    return 'ended';
  }

  /** Nothing was paid. The fees are lost, except for those of expired transactions, by whose doing it was. */
  async function endUnpaid(row: JournalRow, progress: Progress, { slot }: DepositAt, why: Why): Promise<Step> {
    const landed = await landedReturn(chain, row);
    if (landed) await journal.decided(row, landed, 'landed');
    for (const lost of lostBy(row)) await journal.burnt(row, lost, why.culprit);
    await journal.void(row, why.code, why.message, slot);
    progress.opened();
    return 'ended';
  }

  return { giveBack, sendBack, endUnpaid };
}

const whyOf = ({ error_code: code, error_message: message, culprit }: JournalRow): Why => ({
  code: code as Why['code'],
  message: message ?? '',
  culprit: culprit ?? 'operator',
});

/**
 * The transactions that an unpaid call has lost and that count against nobody yet. Those of the calls that it replaced
 * were counted when these ended.
 */
const lostBy = ({ transactions }: JournalRow): TransactionRow[] =>
  transactions.filter(({ kind, outcome, culprit }) => kind !== 'open' && outcome !== 'expired' && culprit === null);

/** Our return, if it landed: once a deposit has expired, anyone may have sent its money back. */
async function landedReturn(chain: EngineDeps['chain'], row: JournalRow): Promise<TransactionRow | undefined> {
  const undecided = undecidedOf(row, 'return');
  return undecided && (await chain.hasSucceeded(undecided.signature)) ? undecided : undefined;
}
