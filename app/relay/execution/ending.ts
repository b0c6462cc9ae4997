/**
 * How a row ends: as its record says, whatever was intended. Bytes that were sent are followed until their fate is known,
 * and signed again only where they are dead.
 */
import type { ExecutionRecord } from '../../sdk/program/program.ts';
import type { Fate } from '../chain/confirmations.ts';
import { feeOf } from '../chain/networkFee.ts';
import { burnableBy } from '../ledger/funding.ts';
import type { JournalRow } from '../ledger/tables.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import { readSnapshot, readSnapshotPast, type Snapshot, splitOf } from './snapshot.ts';
import type { EngineDeps, Step } from './step.ts';

/** A transaction is signed again at most this often before a person has to look. */
const MAX_REBUILDS = 5n;

/** What the program says to a settle, and to a refund, of who is no relay authority. */
const NOT_NAMED: readonly (string | null)[] = ['NotRelayAuthority', 'RefundTooEarly'];

export type Ending = ReturnType<typeof createEnding>;

/** What settle and refund have in common once their bytes are stored. */
export function createEnding(
  deps: Pick<EngineDeps, 'chain' | 'journal' | 'log' | 'authorities' | 'budgets'>,
  stopping: AbortSignal,
) {
  const { chain, journal, log, authorities, budgets } = deps;

  /** Whether bytes are of an authority that Config names no longer: the program refuses them for ever. */
  const isDead = (signed: SignedTransaction) => !authorities.names(feeOf(signed.bytes).payer);

  /** Send a settle or a refund, and wait for its fate. */
  function submit(row: JournalRow, signed: SignedTransaction): Promise<Fate> {
    return chain.submit(signed, () => hasEnded(row), stopping);
  }

  /** Whether the record shows that the money has gone, whichever way. */
  async function hasEnded(row: JournalRow): Promise<boolean> {
    const { record } = await readSnapshot(chain, row);
    return record !== null && record.status !== 'open';
  }

  /** Where the record has ended, the row ends the same way, whatever was intended. */
  async function followRecord(row: JournalRow, snapshot: Snapshot): Promise<boolean> {
    const { record } = snapshot;
    if (!record || record.status === 'open') return false;
    if (record.status === 'refunded') await journal.refunded(row, record.settledAt, await unpaidFees(row, record));
    else await journal.settled(row, { settledAt: record.settledAt, ...splitOf(record) });
    return true;
  }

  /** What the open cost where a stranger's refund has given the gas away, lamports. */
  async function unpaidFees(row: JournalRow, record: ExecutionRecord): Promise<bigint> {
    if (record.settledAt < record.refundAt || row.open_fee <= row.house_lamports) return 0n;
    // From refund_at on anyone may have been first; only our own bytes prove that it was us.
    const isOurs = row.refund_signature !== null && (await chain.hasSucceeded(row.refund_signature));
    return isOurs ? 0n : row.open_fee - row.house_lamports;
  }

  /**
   * Whether the day's budgets bear that one more transaction of this row fails, as one has. What it had at risk it still
   * has, beside what it has burnt.
   */
  async function mayBurn(row: JournalRow): Promise<boolean> {
    const sums = await journal.sumsOf(row.wallet, row.listing, Date.now());
    const { wallet, listing, total } = burnableBy(budgets, row.may_burn_lamports === 0n);
    return (
      sums.burnt_wallet + sums.risk_wallet <= wallet &&
      sums.burnt_listing + sums.risk_listing <= listing &&
      sums.burnt_total + sums.risk_total <= total
    );
  }

  /**
   * End as the record says. Where it still is open and the stored bytes are dead, because they failed or because no
   * block can take them any more, they are signed again, and not for ever.
   */
  async function followFate(
    row: JournalRow,
    fate: Fate,
    signed: SignedTransaction,
    signAgain: (fresh: Snapshot) => Promise<Step>,
  ): Promise<Step> {
    if (fate.kind === 'unknown') return 'wait';
    if (fate.kind === 'confirmed' && (await followRecord(row, await readSnapshot(chain, row)))) return 'ended';
    // What is confirmed and not to be seen is on another fork, or the node errs: only the finalized record can tell.
    const isPast = fate.kind !== 'failed';
    const fresh = isPast ? await readSnapshotPast(chain, row, signed.lastValidHeight) : await readSnapshot(chain, row);
    if (!fresh) return 'wait';
    if (await followRecord(row, fresh)) return 'ended';
    if (fate.kind === 'failed' && NOT_NAMED.includes(fate.error)) {
      await authorities.look();
      if (isDead(signed)) return 'wait';
    }
    if (fate.kind === 'failed') await journal.burnt(row, feeOf(signed.bytes).lamports);
    if (row.rebuilds >= MAX_REBUILDS || !(await mayBurn(row))) {
      log.error({ execution_id: row.execution_id, fate: fate.kind }, 'parked: its transaction does not land');
      await journal.parked(row);
      return 'rest';
    }
    const left = await signAgain(fresh);
    return left === 'next' && !isPast ? 'wait' : left;
  }

  return { submit, followRecord, followFate, isDead, mayBurn };
}
