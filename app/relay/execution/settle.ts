/** Pays a verified result: signs and stores the settle, then sends it until its outcome is known. */
import { type AgentListing, type ExecutionRecord, findTokenAccount } from '../../sdk/program/program.ts';
import type { TransactionFailure } from '../chain/failures.ts';
import type { JournalRow, ResultRow } from '../ledger/tables.ts';
import { isRefused, lastOf } from '../ledger/transactions.ts';
import type { EngineDeps, Step } from './deps.ts';
import type { Ending } from './ending.ts';
import type { Refunding } from './refund.ts';
import { isUsual, type Sharing } from './sharing.ts';
import { partOfSettle, signAlone } from './sign.ts';
import { readSnapshot, SETTLE_MARGIN_SECONDS, type Snapshot } from './snapshot.ts';

export type Settling = ReturnType<typeof createSettling>;

const isSame = (one: ResultRow, other: ResultRow): boolean =>
  one.result_hash === other.result_hash && one.signature === other.signature;

/** Creates the steps that settle. */
export function createSettling(
  deps: EngineDeps,
  { submit, followOutcome, isByRemovedAuthority }: Ending,
  { refundIntent }: Refunding,
  sharing: Pick<Sharing, 'share'>,
) {
  const { chain, journal, log } = deps;

  const warnOfProblem = ({ execution_id }: JournalRow, { error }: TransactionFailure) =>
    log.warn({ execution_id, program_error: error }, 'the settle transaction would fail now');

  /** Signs a settle and simulates it: to the payout account, else to the creator's own account. */
  async function trySettle(
    row: JournalRow,
    record: ExecutionRecord,
    listing: AgentListing,
    result: ResultRow,
    attempt = 0,
  ) {
    const signed = await signAlone(chain, partOfSettle(chain, record, listing.payout, result), attempt);
    const problem = await chain.simulate(signed.bytes);
    if (problem?.error !== 'PayoutUnusable') return { signed, problem };
    // The creator may have changed its payout account since the open.
    const { creator, payout } = (await readSnapshot(chain, row)).listing ?? listing;
    const own = findTokenAccount(creator, deps.usdcMint);
    const other = payout.equals(listing.payout) ? own : payout;
    const again = await signAlone(chain, partOfSettle(chain, record, other, result), attempt);
    return { signed: again, problem: await chain.simulate(again.bytes) };
  }

  /**
   * A result counts as verified unless a simulated settle fails for its signature or its payout account. The result is
   * stored during the simulation. If another result of this execution was stored first, that one is settled.
   */
  async function settleIntent(
    row: JournalRow,
    snapshot: Snapshot,
    result: ResultRow,
    storing = Promise.resolve(result),
  ): Promise<Step> {
    const { record, listing } = snapshot;
    // It is awaited later; until then nobody else would notice its failure, which ends the process.
    storing.catch(() => undefined);
    if (!record || !listing) {
      await storing;
      return 'wait';
    }
    const isShared = await sharing.share('settle', row, async () => {
      const stored = await storing;
      if (!isSame(stored, result) || !isUsual(chain, record)) return null;
      const changes = { execution_time_ms: result.execution_time_ms, rebuilds: row.rebuilds };
      return { ...partOfSettle(chain, record, listing.payout, result), state: 'verified', changes };
    });
    if (isShared) return 'next';
    const [{ signed, problem }, stored] = await Promise.all([trySettle(row, record, listing, result), storing]);
    if (!isSame(stored, result)) return settleIntent(row, snapshot, stored);
    if (problem?.error === 'PayoutUnusable') {
      return refundIntent(row, snapshot, 'payoutUnusable', "The creator's payout account cannot receive USDC");
    }
    if (problem?.error === 'SignatureInvalid') {
      return refundIntent(row, snapshot, 'invalidAnswer', "The program rejected the creator's signature");
    }
    if (problem) warnOfProblem(row, problem);
    await journal.verified(row, signed, result.execution_time_ms, row.rebuilds);
    return 'next';
  }

  async function settle(row: JournalRow, snapshot: Snapshot): Promise<Step> {
    if (snapshot.now >= (row.refund_at ?? 0n)) {
      return refundIntent(row, snapshot, 'unserved', 'The result could not be settled in time');
    }
    if (snapshot.now >= (row.refund_at ?? 0n) - SETTLE_MARGIN_SECONDS) return 'rest';
    const signed = lastOf(row, 'settle');
    if (isByRemovedAuthority(signed)) return resignSettle(row, snapshot, row.rebuilds);
    const outcome = await submit(row, signed);
    return followOutcome(row, outcome, signed, (fresh, rebuilds) => resignSettle(row, fresh, rebuilds));
  }

  /** Signs the settle once more, unless the chain would refuse that too. Then it waits, until refund_at at most. */
  async function resignSettle(row: JournalRow, fresh: Snapshot, rebuilds: bigint): Promise<Step> {
    const result = await journal.result(row.execution_id);
    if (!result || !fresh.record || !fresh.listing)
      throw new Error('the result of a verified execution does not exist any more');
    const { signed, problem } = await trySettle(row, fresh.record, fresh.listing, result, Number(rebuilds));
    if (problem) {
      warnOfProblem(row, problem);
      return 'rest';
    }
    if (isRefused(row, signed)) return 'wait';
    await journal.verified(row, signed, result.execution_time_ms, rebuilds);
    return 'next';
  }

  return { settleIntent, settle };
}
