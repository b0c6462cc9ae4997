/** Returns an execution's money to its caller. */
import { type ExecutionRecord, movableFrom, REFUND_REASONS, type RefundReason } from '../../sdk/program/program.ts';
import { cannotReceive } from '../chain/tokenAccounts.ts';
import type { FailedAnswer } from '../ledger/failedAnswers.ts';
import { tryAfterMs } from '../ledger/funding.ts';
import { refundingMove, type WhyRefunded } from '../ledger/intents.ts';
import { isWaiting, type JournalRow } from '../ledger/tables.ts';
import { isRefused, lastOf, transactionsOf } from '../ledger/transactions.ts';
import type { NewTransaction } from '../ledger/writing.ts';
import type { EngineDeps, Step } from './deps.ts';
import type { Ending } from './ending.ts';
import { borne, isUsual, partIn, type Sharing } from './sharing.ts';
import { partOfRefund, signAlone } from './sign.ts';
import { readSnapshot, SETTLE_MARGIN_SECONDS, type Snapshot } from './snapshot.ts';

export type Refunding = ReturnType<typeof createRefunding>;

const UNSERVED = REFUND_REASONS.indexOf('unserved');

/** The error code for each reason. All others are `execution_failed`. */
const CODES: Partial<Record<RefundReason, string>> = {
  creatorTimeout: 'execution_timeout',
  unserved: 'service_unavailable',
};

/** Creates the steps that refund. */
export function createRefunding(
  deps: EngineDeps,
  { submit, followOutcome, isByRemovedAuthority }: Ending,
  sharing: Pick<Sharing, 'share' | 'exclude'>,
) {
  const { chain, journal, usdcMint } = deps;

  /**
   * Signs and stores a refund. From then on nothing settles. `message` is for the caller; `answer` is stored for the
   * creator before.
   */
  async function refundIntent(
    row: JournalRow,
    snapshot: Snapshot,
    reason: RefundReason,
    message: string,
    answer?: FailedAnswer,
  ): Promise<Step> {
    const { record } = snapshot;
    if (!record) return 'wait';
    const kept = answer ? journal.storeFailedAnswer(row.execution_id, answer) : Promise.resolve();
    // It is awaited later; until then nobody else would notice its failure, which ends the process.
    kept.catch(() => undefined);
    const why = {
      reason: REFUND_REASONS.indexOf(reason),
      code: CODES[reason] ?? 'execution_failed',
      message,
      rebuilds: row.rebuilds,
    };
    const isShared = mayShare(snapshot.now, record) && (await shareRefund(row, record, reason, why, kept));
    if (isShared) return 'next';
    const signed = await signAlone(chain, partOfRefund(chain, record, usdcMint, reason));
    const problem = await chain.simulate(signed.bytes).catch(() => null);
    // Sending such a refund would only cost a fee.
    const isUnusable = problem?.error === 'RefundDestinationUnusable';
    const waits = isUnusable && (await cannotReceive(chain, record.caller, usdcMint).catch(() => false));
    await kept;
    // Written together: after a kill in between, the wallet would owe the fee.
    await journal.refunding(row, signed, { ...why, waits, neverSent: isUnusable });
    if (waits) return 'rest';
    return isUnusable ? waitForAccount(row) : 'next';
  }

  const shareRefund = (
    row: JournalRow,
    record: ExecutionRecord,
    reason: RefundReason,
    why: WhyRefunded,
    kept: Promise<void>,
  ): Promise<boolean> =>
    sharing.share('refund', row, async () => {
      await kept;
      return { ...partOfRefund(chain, record, usdcMint, reason), ...refundingMove(row, why) };
    });

  /** From `refund_at` on anyone may refund the record first, which makes the transaction fail for all. */
  const mayShare = (now: bigint, record: ExecutionRecord): boolean =>
    now < record.refundAt - SETTLE_MARGIN_SECONDS && isUsual(chain, record);

  async function refund(row: JournalRow): Promise<Step> {
    const signed = lastOf(row, 'refund');
    if (isByRemovedAuthority(signed)) return resignRefund(row, await readSnapshot(chain, row), row.rebuilds);
    const outcome = await submit(row, signed);
    const part = partIn(row, signed, outcome);
    const isOwn = part === null || part === 'own';
    if (isOwn && outcome.kind === 'failed' && outcome.error === 'RefundDestinationUnusable') {
      if (part === 'own') sharing.exclude(row.wallet);
      await journal.failed(row, borne(signed, part), 'wallet');
      return waitForAccount(row);
    }
    return followOutcome(row, outcome, signed, (fresh, rebuilds) => resignRefund(row, fresh, rebuilds));
  }

  async function waitForAccount(row: JournalRow): Promise<Step> {
    await journal.refundWaits(row.execution_id);
    return 'rest';
  }

  async function resignRefund(row: JournalRow, fresh: Snapshot, rebuilds: bigint): Promise<Step> {
    if (!fresh.record) return 'wait';
    const reason = REFUND_REASONS[Number(row.refund_reason ?? UNSERVED)] ?? 'unserved';
    const signed = await signAlone(chain, partOfRefund(chain, fresh.record, usdcMint, reason), Number(rebuilds));
    if (isRefused(row, signed)) return isWaiting(row) ? 'rest' : 'wait';
    await storeRefund(journal, row, signed, rebuilds);
    return 'next';
  }

  /**
   * Retries a refund with an unusable account only once that account is usable. Until the money is back, its displayed
   * status does not change. An account that becomes unusable again burns a fee. While the wallet owes it, its waiting
   * refunds are held back.
   */
  async function retryRefund(row: JournalRow, snapshot: Snapshot): Promise<Step> {
    if (isWaiting(row) || row.rebuilds > 0n) {
      if (await isStuck(row, snapshot.record!)) return waitForAccount(row);
      if (isWaiting(row)) {
        if (await isHeldBack(deps, row, snapshot.now, snapshot.record!.refundAt)) return 'rest';
        const left = await resignRefund(row, snapshot, row.rebuilds);
        if (left !== 'next') return left;
      }
    }
    return refund(row);
  }

  /** True if the refund cannot arrive. While it waits, most polls end without a simulation. */
  async function isStuck(row: JournalRow, record: ExecutionRecord): Promise<boolean> {
    if (isWaiting(row) && (await cannotReceive(chain, record.caller, usdcMint))) return true;
    const signed = await signAlone(chain, partOfRefund(chain, record, usdcMint, 'unserved'));
    return (await chain.simulate(signed.bytes))?.error === 'RefundDestinationUnusable';
  }

  /** Refunds a parked row once only a refund can still happen. */
  async function unpark(row: JournalRow, snapshot: Snapshot): Promise<Step> {
    if (!snapshot.record) return 'rest';
    if (snapshot.now < refundableFrom(row, snapshot.record)) return 'rest';
    return refundIntent(row, snapshot, 'unserved', row.error_message ?? 'The call could not be settled');
  }

  return { refundIntent, retryRefund, unpark };
}

/** Stores another transaction that refunds; the reason that callers see stays. */
function storeRefund(
  journal: EngineDeps['journal'],
  row: JournalRow,
  signed: NewTransaction,
  rebuilds: bigint,
): Promise<void> {
  return journal.refunding(row, signed, {
    reason: Number(row.refund_reason ?? UNSERVED),
    code: row.error_code ?? 'service_unavailable',
    message: row.error_message ?? '',
    rebuilds,
  });
}

/**
 * True if a waiting refund is not sent although its account can receive, because its wallet owes lost fees. The caller
 * can still send it. An hour after `refundableAt`, from which anyone can make it (unix seconds), only the wallet's next
 * try is awaited: the sweeper moves what cannot be received, and nothing else would end this one.
 */
export async function isHeldBack(
  { journal, lending }: Pick<EngineDeps, 'journal' | 'lending'>,
  { wallet, listing }: JournalRow,
  now: bigint,
  refundableAt: bigint,
): Promise<boolean> {
  if (lending.sponsorsAll) return false;
  const { owed, owed_ms, now_ms } = await journal.sumsOf(wallet, listing, Date.now());
  if (owed <= 0n) return false;
  return now < movableFrom(refundableAt) || owed_ms + tryAfterMs(owed) > now_ms;
}

/** True if the row was made for an orphan. */
const isOfNobody = (row: JournalRow) => row.metadata_hash === '';

/** Time from which a parked execution can only be refunded, unix seconds. */
function refundableFrom(row: JournalRow, record: ExecutionRecord): bigint {
  // A signed settle could still land before refund_at.
  if (transactionsOf(row, 'settle').length > 0) return record.refundAt;
  // An orphan may belong to another ledger, whose relay settles until then.
  return isOfNobody(row) ? record.refundAt - SETTLE_MARGIN_SECONDS : record.deadline;
}
