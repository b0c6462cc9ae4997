/**
 * Ends a row as its record says, whatever the relay intended. It follows sent bytes until their outcome is known, and
 * signs them again only if they are dead.
 */
import { splitPrice } from '../../../indexer/queries/record.ts';
import type { ExecutionRecord } from '../../sdk/program/program.ts';
import type { Outcome } from '../chain/confirmations.ts';
import { UPGRADING } from '../chain/failures.ts';
import { feeOf } from '../chain/networkFee.ts';
import { type Culprit, isWaiting, type JournalRow } from '../ledger/tables.ts';
import { type StoredTransaction, transactionsOf, undecidedOf } from '../ledger/transactions.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import type { EngineDeps, Step } from './deps.ts';
import { borne, partIn, type Sharing } from './sharing.ts';
import { readSnapshot, readSnapshotPast, type Snapshot } from './snapshot.ts';

/** A transaction is signed again at most this often. Then the row is parked until only a refund is possible. */
const MAX_REBUILDS = 5n;

/** The program's errors for a settle and a refund by a key that is no relay authority. */
const NOT_NAMED: readonly (string | null)[] = ['NotRelayAuthority', 'RefundTooEarly'];

/** Whose doing it was that the chain refused a settle or a refund. */
function culpritOf(kind: StoredTransaction['kind'], error: string | null): Culprit {
  if (NOT_NAMED.includes(error) || error === UPGRADING) return 'operator';
  if (kind === 'refund') return 'wallet';
  return error === 'PayoutUnusable' ? 'listing' : 'operator';
}

export type Ending = ReturnType<typeof createEnding>;

/** The parts that settle and refund share once their bytes are stored. */
export function createEnding(
  deps: Pick<EngineDeps, 'chain' | 'journal' | 'log' | 'authorities' | 'closedEnd'>,
  sharing: Pick<Sharing, 'exclude'>,
  stopping: AbortSignal,
) {
  const { chain, journal, log, authorities } = deps;

  /** True if a removed authority signed the bytes. The program refuses them permanently. */
  const isByRemovedAuthority = (signed: Pick<SignedTransaction, 'bytes'>) =>
    !authorities.names(feeOf(signed.bytes).payer);

  /** Sends a settle or a refund and waits for its outcome. */
  function submit(row: JournalRow, signed: StoredTransaction): Promise<Outcome> {
    return chain.submit(signed, () => hasEnded(row), stopping);
  }

  /** True if the record shows that the money has left the escrow, either way. */
  async function hasEnded(row: JournalRow): Promise<boolean> {
    const { record } = await readSnapshot(chain, row);
    return record !== null && record.status !== 'open';
  }

  /** If the record has ended, ends the row the same way, whatever the relay intended. `expired` cannot land any more. */
  async function followRecord(row: JournalRow, snapshot: Snapshot, expired?: StoredTransaction): Promise<boolean> {
    const { record } = snapshot;
    if (!record || record.status === 'open') return false;
    if (record.status === 'refunded') {
      await endRefunded(row, record, expired);
      return true;
    }
    const { creator_amount, platform_amount } = splitPrice(record.price, BigInt(record.feeBps));
    const { settledAt } = record;
    await journal.settled(row, { settledAt, creatorAmount: creator_amount, platformAmount: platform_amount });
    return true;
  }

  /**
   * Handles an open execution whose record is not there. The node may lag. A record that has ended may be closed or
   * archived since, for example while all relays were down; then the index knows its end.
   */
  async function withoutRecord(row: JournalRow): Promise<Step> {
    const end = await deps.closedEnd(row.execution_id);
    if (!end) return row.state === 'parked' ? 'rest' : 'wait';
    if (end.isRefunded) await endRefunded(row, end);
    else await journal.settled(row, end);
    return 'ended';
  }

  /**
   * Ends the row of a refunded record. If a stranger's refund landed first, the gas went back to the wallet, and the
   * wallet owes the fees of ours. One that was sent may still land and fail, so it counts already; one that has
   * `expired` does not.
   */
  async function endRefunded(
    row: JournalRow,
    { settledAt, refundAt }: Pick<ExecutionRecord, 'settledAt' | 'refundAt'>,
    expired?: StoredTransaction,
  ): Promise<void> {
    // Before refund_at only a relay can refund.
    if (settledAt < refundAt) return journal.refunded(row, settledAt, undecidedOf(row, 'refund'));
    const refunds = transactionsOf(row, 'refund');
    for (const landed of refunds.filter(({ outcome }) => outcome !== 'failed')) {
      if (await chain.hasSucceeded(landed.signature)) return journal.refunded(row, settledAt, landed);
    }
    const flying = refunds.findLast(({ outcome, signature }) => outcome === null && signature !== expired?.signature);
    // The chain refuses a removed authority's by the operator's own doing.
    for (const one of refunds.filter(
      (one) => one === flying || (one.outcome === 'failed' && !isByRemovedAuthority(one)),
    )) {
      await journal.burnt(row, one, 'wallet');
    }
    await journal.refunded(row, settledAt);
  }

  /**
   * Ends the row as its record says. If the record is still open and the stored bytes failed or expired, signs them
   * again, up to MAX_REBUILDS times.
   */
  async function followOutcome(
    row: JournalRow,
    outcome: Outcome,
    signed: StoredTransaction,
    signAgain: (fresh: Snapshot, rebuilds: bigint) => Promise<Step>,
  ): Promise<Step> {
    if (outcome.kind === 'unknown') return 'wait';
    if (outcome.kind === 'confirmed' && (await followRecord(row, await readSnapshot(chain, row)))) return 'ended';
    // If a landed transaction has no visible effect, a node is wrong. Only a reading past its last valid height decides.
    const isPast = outcome.kind !== 'failed';
    const fresh = isPast ? await readSnapshotPast(chain, row, signed.lastValidHeight) : await readSnapshot(chain, row);
    if (!fresh) return 'wait';
    // If the record has ended or is gone, its end shows who bears the fee.
    const isOpen = fresh.record?.status === 'open';
    const part = partIn(row, signed, outcome);
    if (part === 'others') await journal.decided(row, signed, 'expired');
    else if (outcome.kind === 'failed') {
      const culprit = part === 'unknown' ? 'operator' : culpritOf(signed.kind, outcome.error);
      if (part === 'own' && culprit !== 'operator') sharing.exclude(culprit === 'listing' ? row.listing : row.wallet);
      // Nothing that ends the record later changes that these were the operator's doing.
      const isOperators = part === 'unknown' || outcome.error === UPGRADING;
      await journal.failed(row, borne(signed, part), isOpen || isOperators ? culprit : null);
    }
    if (await followRecord(row, fresh, outcome.kind === 'expired' ? signed : undefined)) return 'ended';
    // It has ended and left its address, and the index will show how. Or a node is wrong.
    if (!fresh.record) return 'wait';
    if (outcome.kind === 'failed' && NOT_NAMED.includes(outcome.error)) {
      await authorities.poll();
      if (isByRemovedAuthority(signed)) return 'wait';
    }
    if (isPast) await journal.decided(row, signed, 'expired');
    if (isWaiting(row)) {
      await journal.refundWaits(row.execution_id);
      return 'rest';
    }
    if (part === 'others') return signAgain(fresh, row.rebuilds);
    if (row.rebuilds >= MAX_REBUILDS) {
      log.error(
        { execution_id: row.execution_id, outcome: outcome.kind },
        'parked an execution: its transaction does not land',
      );
      await journal.parked(row);
      return 'rest';
    }
    const left = await signAgain(fresh, row.rebuilds + 1n);
    return left === 'next' && !isPast ? 'wait' : left;
  }

  return { submit, followRecord, withoutRecord, followOutcome, isByRemovedAuthority };
}
