// How an execution's money leaves its escrow: the settle or the refund is signed and stored, then sent until its
// fate is known, and signed anew only where the stored bytes are dead. Whatever was intended, the record decides.

import {
  type AgentListing,
  type ExecutionRecord,
  REFUND_REASONS,
  type RefundReason,
} from '../../sdk/program/program.ts';
import type { Fate } from '../chain/confirmations.ts';
import { type ExecutionRow, isWaiting, type ResultRow } from '../ledger/tables.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import {
  readSnapshot,
  readSnapshotPast,
  refundObstacle,
  type Snapshot,
  signRefund,
  signSettle,
  splitOf,
} from './sign.ts';
import type { EngineDeps, Step } from './steps.ts';

/** The relay stops settling this long before refund_at, seconds. */
const SETTLE_MARGIN_SECONDS = 60n;
/** A transaction is built anew at most so often before a person has to look. */
const MAX_REBUILDS = 5n;

/** Whether an agent that begins now could still be paid when it takes all of its time. */
export function hasTimeToServe(row: ExecutionRow, { now }: Snapshot): boolean {
  return now + row.timeout_seconds < (row.refund_at ?? 0n) - SETTLE_MARGIN_SECONDS;
}

export function createEnding(deps: EngineDeps, stopping: AbortSignal) {
  const { chain, journal, usdcMint, log } = deps;

  /** A settle, and what the chain would say to it. */
  async function trySettle(row: ExecutionRow, record: ExecutionRecord, listing: AgentListing, result: ResultRow) {
    const signed = await signSettle(chain, record, listing, result);
    const problem = await chain.simulate(signed.bytes);
    if (problem?.error !== 'WrongPayout') return { signed, problem };
    // The creator moved its payout account since the open.
    const fresh = await readSnapshot(chain, row);
    const anew = fresh.listing ? await signSettle(chain, record, fresh.listing, result) : signed;
    return { signed: anew, problem: await chain.simulate(anew.bytes) };
  }

  /**
   * The result counts as verified only if the chain would take its settle. While the node says so it is stored; where
   * another one of this execution was stored before, it is that one which is settled.
   */
  async function settleIntent(
    row: ExecutionRow,
    snapshot: Snapshot,
    result: ResultRow,
    storing = Promise.resolve(result),
  ): Promise<Step> {
    const { record, listing } = snapshot;
    if (!record || !listing) {
      await storing;
      return 'wait';
    }
    const [{ signed, problem }, stored] = await Promise.all([trySettle(row, record, listing, result), storing]);
    if (stored.result_hash !== result.result_hash || stored.signature !== result.signature) {
      return settleIntent(row, snapshot, stored);
    }
    if (problem?.error === 'PayoutUnusable') {
      return refundIntent(row, snapshot, 'payoutUnusable', "The creator's payout account cannot receive");
    }
    if (problem && (problem.instruction === 0 || problem.error?.startsWith('Signature'))) {
      return refundIntent(row, snapshot, 'invalidAnswer', "The creator's signature is not accepted on-chain");
    }
    if (problem)
      log.warn({ execution_id: row.execution_id, program_error: problem.error }, 'settle would not succeed now');
    await journal.verified(row, signed, result.execution_time_ms, row.rebuilds);
    return 'next';
  }

  async function settle(row: ExecutionRow, snapshot: Snapshot): Promise<Step> {
    if (snapshot.now >= (row.refund_at ?? 0n)) {
      return refundIntent(row, snapshot, 'unserved', 'The result could not be settled in time');
    }
    if (snapshot.now >= (row.refund_at ?? 0n) - SETTLE_MARGIN_SECONDS) return 'rest';
    const signed = storedSettle(row);
    const fate = await chain.submit(signed, () => hasEnded(row), stopping);
    return followFate(row, fate, signed, async (fresh) => {
      const result = await journal.result(row.execution_id);
      if (!result || !fresh.record || !fresh.listing) throw new Error('a verified execution has lost its result');
      const attempt = Number(row.rebuilds) + 1;
      const anew = await signSettle(chain, fresh.record, fresh.listing, result, attempt);
      await journal.verified(row, anew, result.execution_time_ms, row.rebuilds + 1n);
    });
  }

  /** Whether the record shows that the money has gone, whichever way. */
  async function hasEnded(row: ExecutionRow): Promise<boolean> {
    const { record } = await readSnapshot(chain, row);
    return record !== null && record.status !== 'open';
  }

  async function refundIntent(
    row: ExecutionRow,
    snapshot: Snapshot,
    reason: RefundReason,
    message: string,
  ): Promise<Step> {
    if (!snapshot.record) return 'wait';
    const signed = await signRefund(chain, snapshot.record, usdcMint, reason);
    const code =
      reason === 'creatorTimeout'
        ? 'execution_timeout'
        : reason === 'unserved'
          ? 'service_unavailable'
          : 'execution_failed';
    await journal.refunding(row, signed, {
      reason: REFUND_REASONS.indexOf(reason),
      code,
      message,
      rebuilds: row.rebuilds,
    });
    return 'next';
  }

  async function refund(row: ExecutionRow): Promise<Step> {
    const signed = storedRefund(row);
    const fate = await chain.submit(signed, () => hasEnded(row), stopping);
    if (fate.kind === 'failed' && fate.error === 'RefundDestinationUnusable') return waitForAccount(row);
    return followFate(row, fate, signed, (fresh) => resignRefund(row, fresh, row.rebuilds + 1n));
  }

  async function waitForAccount(row: ExecutionRow): Promise<Step> {
    const { record } = await readSnapshot(chain, row);
    if (record) await journal.refundWaits(row.execution_id, await refundObstacle(chain, record, usdcMint));
    return 'rest';
  }

  async function resignRefund(row: ExecutionRow, fresh: Snapshot, rebuilds: bigint): Promise<void> {
    if (!fresh.record) throw new Error('a refund has lost its record');
    const reason = REFUND_REASONS[Number(row.refund_reason ?? 4n)] ?? 'unserved';
    const signed = await signRefund(chain, fresh.record, usdcMint, reason, Number(rebuilds));
    await journal.refunding(row, signed, {
      reason: REFUND_REASONS.indexOf(reason),
      code: row.error_code ?? 'service_unavailable',
      message: row.error_message ?? '',
      rebuilds,
    });
  }

  /**
   * End as the record says. Where it still is open and the stored bytes are dead, because they failed or because no
   * block can take them any more, they are signed anew, and not for ever.
   */
  async function followFate(
    row: ExecutionRow,
    fate: Fate,
    signed: SignedTransaction,
    signAnew: (fresh: Snapshot) => Promise<void>,
  ): Promise<Step> {
    if (fate.kind === 'unknown') return 'wait';
    if (fate.kind === 'confirmed' && (await followRecord(row, await readSnapshot(chain, row)))) return 'ended';
    // What is confirmed and not to be seen is on another fork, or the node errs: only the finalized record can tell.
    const isPast = fate.kind !== 'failed';
    const fresh = isPast ? await readSnapshotPast(chain, row, signed.lastValidHeight) : await readSnapshot(chain, row);
    if (!fresh) return 'wait';
    if (await followRecord(row, fresh)) return 'ended';
    if (row.rebuilds >= MAX_REBUILDS) {
      log.error({ execution_id: row.execution_id, fate: fate.kind }, 'parked: its transaction does not land');
      await journal.parked(row);
      return 'rest';
    }
    await signAnew(fresh);
    return isPast ? 'next' : 'wait';
  }

  /** Where the record has ended, the row ends the same way, whatever was intended. */
  async function followRecord(row: ExecutionRow, snapshot: Snapshot): Promise<boolean> {
    const { record } = snapshot;
    if (!record || record.status === 'open') return false;
    if (record.status === 'refunded') await journal.refunded(row, record.settledAt);
    else await journal.settled(row, { settledAt: record.settledAt, ...splitOf(record) });
    return true;
  }

  /**
   * Refunds whose account was unusable are tried again only when it has become usable. Until then, and until the money is
   * back, they stay what they were shown as.
   */
  async function retryRefund(row: ExecutionRow, snapshot: Snapshot): Promise<Step> {
    if (isWaiting(row)) {
      const signed = await signRefund(chain, snapshot.record!, usdcMint, 'unserved');
      const problem = await chain.simulate(signed.bytes);
      if (problem?.error === 'RefundDestinationUnusable') return waitForAccount(row);
      await resignRefund(row, snapshot, row.rebuilds);
    }
    return refund(row);
  }

  /** A row that a person should look at goes back to its caller when nothing else can happen to it any more. */
  async function unpark(row: ExecutionRow, snapshot: Snapshot): Promise<Step> {
    if (!snapshot.record) return 'rest';
    // A settle that was signed once could still land before refund_at.
    const over = row.settle_transaction ? snapshot.record.refundAt : snapshot.record.deadline;
    if (snapshot.now < over) return 'rest';
    return refundIntent(row, snapshot, 'unserved', row.error_message ?? 'The execution could not be settled');
  }

  return { settleIntent, settle, refundIntent, retryRefund, followRecord, unpark };
}

function stored(bytes: Buffer | null, signature: string | null, height: bigint | null): SignedTransaction {
  if (!bytes || !signature || height === null) throw new Error('a journal row lacks its signed transaction');
  return { bytes, signature, lastValidHeight: height };
}
export const storedOpen = (row: ExecutionRow) =>
  stored(row.open_transaction, row.open_signature, row.open_last_valid_height);
const storedSettle = (row: ExecutionRow) =>
  stored(row.settle_transaction, row.settle_signature, row.settle_last_valid_height);
const storedRefund = (row: ExecutionRow) =>
  stored(row.refund_transaction, row.refund_signature, row.refund_last_valid_height);
