/**
 * Runs the next step of an execution, by the state of its row and of its record on the chain. A row can be continued in
 * every state, so a live call and crash recovery share one code path. An unknown outcome is never a failure: the row
 * stays and is checked again.
 */
import { ENDED_STATES, type ExecutionState, type JournalRow } from '../ledger/tables.ts';
import { createDepositing } from './deposits/deposit.ts';
import type { EngineDeps, Progress, Step } from './deps.ts';
import { createEnding } from './ending.ts';
import { createOpening } from './open.ts';
import { createRefunding } from './refund.ts';
import { createServing } from './serve.ts';
import { createSettling } from './settle.ts';
import type { Sharing } from './sharing.ts';
import { hasTimeToServe, readSnapshot, type Snapshot } from './snapshot.ts';

const OF_DEPOSITS: readonly ExecutionState[] = [
  'deposit_signed',
  'deposit_confirmed',
  'pay_signed',
  'paid',
  'returning',
];

/** Creates the steps of all executions. `stopping` ends their waiting and leaves the rows as they are. */
export function createSteps(deps: EngineDeps, sharing: Sharing, stopping: AbortSignal) {
  const { chain, journal } = deps;
  const ending = createEnding(deps, sharing, stopping);
  const refunding = createRefunding(deps, ending, sharing);
  const settling = createSettling(deps, ending, refunding, sharing);
  const { dispatch } = createServing(deps, refunding, settling, stopping);
  const depositing = createDepositing(deps, ending, sharing, stopping);
  const { open } = createOpening(deps, depositing, sharing, stopping);

  /** Runs the step of the row's state. */
  async function step(row: JournalRow, progress: Progress): Promise<Step> {
    if (ENDED_STATES.includes(row.state)) return 'ended';
    // Nothing that we sign can land. Recovery leaves the row to a relay whose key Config names.
    if (!deps.authorities.isOurs()) return 'wait';
    if (OF_DEPOSITS.includes(row.state)) return depositing.step(row, progress);
    if (row.state === 'accepted' || row.state === 'open_signed') return open(row, progress);
    progress.opened();
    const snapshot = progress.snapshot ?? (await readSnapshot(chain, row));
    progress.snapshot = null;
    if (!snapshot.record) return ending.withoutRecord(row);
    if (await ending.followRecord(row, snapshot)) return 'ended';
    const left = await act(row, snapshot, progress);
    // After any other outcome, the next step reads the chain again.
    if (left === 'next') progress.snapshot = snapshot;
    return left;
  }

  async function act(row: JournalRow, snapshot: Snapshot, progress: Progress): Promise<Step> {
    switch (row.state) {
      case 'open_confirmed':
        if (!hasTimeToServe(row, snapshot)) {
          return refunding.refundIntent(row, snapshot, 'unserved', 'The marketplace could not call the agent in time');
        }
        await journal.dispatched(row);
        progress.dispatchedAtMs = performance.now();
        return 'next';
      case 'dispatched':
        return dispatch(row, snapshot, progress);
      case 'verified':
        return settling.settle(row, snapshot);
      case 'refunding':
        return refunding.retryRefund(row, snapshot);
      default:
        return refunding.unpark(row, snapshot);
    }
  }

  return { step };
}
