/** Funds an execution's escrow: sends the stored open until its outcome is known. */
import type { Outcome } from '../chain/confirmations.ts';
import { UPGRADING } from '../chain/failures.ts';
import { feeOf } from '../chain/networkFee.ts';
import { type ApiError, openRefused } from '../errors.ts';
import type { Culprit, JournalRow } from '../ledger/tables.ts';
import { lastOf, type StoredTransaction } from '../ledger/transactions.ts';
import type { Depositing } from './deposits/deposit.ts';
import type { Why } from './deposits/depositAt.ts';
import { type EngineDeps, type Progress, type Step, takeOpening } from './deps.ts';
import { isByWallet } from './records.ts';
import { followGone } from './recovery/gone.ts';
import { borne, isInUpgrade, partIn, type Sharing } from './sharing.ts';
import { OPEN_WINDOW_SECONDS, signOnceMore } from './sign.ts';
import { readSnapshot, readSnapshotPast } from './snapshot.ts';
import { reused } from './standing.ts';

/** The program's errors for an open that its listing no longer allows. The caller has agreed to what it was before. */
const BY_LISTING: readonly (string | null)[] = [
  'ListingVersionMismatch',
  'ListingNotActive',
  'ListingDelisted',
  'PriceAboveMax',
  'TimeoutOutOfRange',
  'ExposureLimitReached',
];
/** Those that neither the caller nor the creator has caused. An open from a deposit is sent once its payment is seen. */
const BY_OPERATOR: readonly (string | null)[] = ['OpensPaused', 'NotRelayAuthority', 'DepositUnfunded', UPGRADING];

/** Whose doing it was that the chain refused an open. */
function culpritOf(error: string | null): Culprit {
  if (BY_OPERATOR.includes(error)) return 'operator';
  return BY_LISTING.includes(error) ? 'listing' : 'wallet';
}

/** Creates the step that opens. */
export function createOpening(
  deps: EngineDeps,
  depositing: Pick<Depositing, 'isOpened' | 'openAgain' | 'notOpened'>,
  sharing: Pick<Sharing, 'exclude'>,
  stopping: AbortSignal,
) {
  const { chain, journal, authorities } = deps;

  async function open(row: JournalRow, progress: Progress): Promise<Step> {
    if (row.state === 'accepted') {
      await journal.void(row, 'service_unavailable', 'The call was interrupted. Nothing was charged.');
      return 'ended';
    }
    if (!progress.isFresh && (await isOpened(row))) return openConfirmed(row, progress);
    progress.isFresh = false;
    const signed = lastOf(row, 'open');
    // The program permanently refuses the bytes of a removed authority, so our authority signs the open again.
    if (!authorities.names(feeOf(signed.bytes).payer)) {
      if (await isOpened(row)) return openConfirmed(row, progress);
      return signAgain(row);
    }
    const outcome = await (takeOpening(progress, signed) ?? chain.submit(signed, () => isOpened(row), stopping));
    switch (outcome.kind) {
      case 'unknown':
        return 'wait';
      case 'failed':
        // Earlier bytes of the same open may have landed. Only the record shows if the money moved.
        if (!(await isOpened(row))) return refuseOpen(row, progress, signed, outcome);
        await noteOpened(deps, sharing, row, signed, outcome);
        return openConfirmed(row, progress);
      // If a landed open has no visible effect, a node is wrong. Only a reading past its last valid height decides.
      case 'confirmed':
      case 'expired': {
        if (outcome.kind === 'confirmed') {
          const left = await openConfirmed(row, progress);
          if (left !== 'wait') return left;
        }
        const final = await readSnapshotPast(chain, row, signed.lastValidHeight);
        if (final?.record && (await isOpened(row))) return openConfirmed(row, progress);
        if (!final || final.now <= (row.open_before ?? 0n)) return 'wait';
        if (!final.record) {
          const left = await followGone(deps, row, final);
          if (left) return left;
        }
        await journal.decided(row, signed, 'expired');
        return voidOpen(row, progress, openRefused(null, 'the transaction expired', row));
      }
    }
  }

  async function signAgain(row: JournalRow): Promise<Step> {
    const openBefore = chain.clock() + OPEN_WINDOW_SECONDS;
    if (row.deposit !== null) return depositing.openAgain(row, openBefore);
    return signOnceMore(deps, row, openBefore);
  }

  /** A wallet may open a record with the id of its key's call itself. That pays no fees, and can be started. */
  async function isOpened(row: JournalRow): Promise<boolean> {
    if (row.deposit !== null) return depositing.isOpened(row);
    const { record } = await readSnapshot(chain, row);
    return record !== null && !isByWallet(record);
  }

  async function openConfirmed(row: JournalRow, progress: Progress): Promise<Step> {
    progress.snapshot = await readSnapshot(chain, row);
    const { record, slot } = progress.snapshot;
    if (!record) return 'wait';
    // If an older ledger was lost, a repeated Idempotency-Key can meet the record of another request.
    const isOurs =
      record.listing.toBase58() === row.listing && Buffer.from(record.requestHash).toString('hex') === row.request_hash;
    if (!isOurs) return voidOpen(row, progress, reused(row.execution_id));
    await journal.openConfirmed(row, record, slot);
    progress.opened();
    return 'next';
  }

  async function voidOpen(
    row: JournalRow,
    progress: Progress,
    error: ApiError,
    failed?: { slot: number; error: string | null; culprit: Culprit },
  ): Promise<Step> {
    // The money may still be in the deposit.
    if (row.deposit !== null) {
      const { code, message } = error;
      const why = { code: code as Why['code'], message, culprit: failed?.culprit ?? 'operator' };
      return depositing.notOpened(row, why, failed?.error);
    }
    await journal.void(row, error.code, error.message, failed?.slot);
    // Set only once the void is stored: if another relay took the row, it may still open it.
    progress.refused = error;
    return 'ended';
  }

  /** The chain took the fee of an open that it refused. Later opens with the same problem are not sent. */
  async function refuseOpen(
    row: JournalRow,
    progress: Progress,
    signed: StoredTransaction,
    outcome: Outcome & { kind: 'failed' },
  ): Promise<Step> {
    const { error, message, slot } = outcome;
    const part = partIn(row, signed, outcome);
    if (part === 'others' || part === 'unknown' || isInUpgrade(row, 'open', outcome)) {
      // Alone it may land. If it is what made the whole fail, it fails again, and pays for that.
      if (part === 'others') await journal.decided(row, signed, 'expired');
      else await journal.failed(row, signed, 'operator');
      if (row.deposit === null) return signAgain(row);
      return voidOpen(row, progress, openRefused(null, 'the transaction failed through no fault of this call', row));
    }
    deps.openFailed(error, row.listing);
    const culprit = culpritOf(error);
    if (culprit !== 'operator') sharing.exclude(culprit === 'listing' ? row.listing : row.wallet);
    // The service fee of a deposit pays for it.
    await journal.failed(row, borne(signed, part), row.deposit === null ? culprit : null);
    return voidOpen(row, progress, openRefused(error, message, row), { slot, error, culprit });
  }

  return { open };
}

/** An open failed because the record was there: earlier bytes have opened it, maybe those of a lost ledger. */
async function noteOpened(
  { journal }: Pick<EngineDeps, 'journal'>,
  sharing: Pick<Sharing, 'exclude'>,
  row: JournalRow,
  signed: StoredTransaction,
  outcome: Outcome & { kind: 'failed' },
): Promise<void> {
  const part = partIn(row, signed, outcome);
  if (part === 'others') await journal.decided(row, signed, 'expired');
  else if (part !== 'own') await journal.failed(row, signed, part === 'unknown' ? 'operator' : null);
  else {
    // Only first attempts are shared, so this ledger has no earlier bytes.
    sharing.exclude(row.wallet);
    await journal.failed(row, borne(signed, part), 'wallet');
  }
}
