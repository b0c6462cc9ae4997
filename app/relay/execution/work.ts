/**
 * Works on rows, step after step, until each has ended, rests, or belongs to another relay. Each row has one worker at
 * a time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporary } from '../../database/temporary.ts';
import { timed } from '../chain/stages.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { JournalConflict } from '../ledger/writing.ts';
import { within } from '../waiting.ts';
import type { EngineDeps, Progress } from './deps.ts';
import type { Sharing } from './sharing.ts';
import { standingOf } from './standing.ts';
import { createSteps } from './steps.ts';

/** Pause after a step without an outcome; doubled each time. */
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 2_000;
/** The same for a row that waits for a person or for a deadline. */
const REST_FIRST_MS = 1_000;
const REST_MAX_MS = 60_000;

/** The stage of each state in the timings. */
const STAGES: Partial<Record<JournalRow['state'], 'deposit' | 'open' | 'dispatch' | 'settle' | 'refund'>> = {
  accepted: 'open',
  deposit_signed: 'deposit',
  deposit_confirmed: 'deposit',
  pay_signed: 'deposit',
  paid: 'deposit',
  returning: 'refund',
  open_signed: 'open',
  open_confirmed: 'dispatch',
  dispatched: 'dispatch',
  refunding: 'refund',
};

export type Work = ReturnType<typeof createWork>;

/** The rows that this process works on. `stopping` ends all waiting, and the journal keeps the unfinished rows. */
export function createWork(deps: EngineDeps, sharing: Sharing, stopping: AbortSignal) {
  const { journal, log } = deps;
  const { step } = createSteps(deps, sharing, stopping);
  const working = new Map<string, Promise<void>>();
  const rests = createRests(journal);
  // Callers that wait here, each notified if another relay takes its execution.
  const awaited = new Map<string, () => void>();

  const pauseFor = (ms: number) => sleep(ms, undefined, { signal: stopping }).catch(() => undefined);

  /** `known` is the current row. */
  async function carryOn(executionId: string, progress: Progress, known?: JournalRow): Promise<void> {
    let next = known;
    for (let pause = WAIT_FIRST_MS; !stopping.aborted; ) {
      const row = next ?? (await readRow(executionId));
      if (row === 'away') {
        await pauseFor(WAIT_FIRST_MS);
        continue;
      }
      if (row?.lease_owner !== journal.owner) return;
      const left = await timed(deps.observe, STAGES[row.state] ?? 'settle', () => step(row, progress)).catch(
        (error) => {
          if (error instanceof JournalConflict) throw error;
          if (!stopping.aborted) log.warn({ execution_id: executionId, error }, 'a step failed; it will be retried');
          return 'wait' as const;
        },
      );
      if (left === 'ended') {
        rests.end(executionId);
        progress.ended = row;
      }
      if (left === 'rest') await rests.begin(executionId);
      if (left === 'ended' || left === 'rest') return;
      next = left === 'next' ? row : undefined;
      if (left === 'next') pause = WAIT_FIRST_MS;
      else {
        await pauseFor(pause);
        pause = Math.min(pause * 2, WAIT_MAX_MS);
      }
    }
  }

  /** A lost database is temporary: workers and waiters continue once it is back. */
  function readRow(executionId: string): Promise<JournalRow | undefined | 'away'> {
    return journal.get(executionId).catch((error) => {
      if (isTemporary(error)) return 'away';
      throw error;
    });
  }

  return {
    /** Works on a row unless this process already does. A fault is logged, and recovery takes the row later. */
    on(executionId: string, progress: Progress, known?: JournalRow): Promise<void> {
      const present = working.get(executionId);
      if (present) return present;
      const promise = carryOn(executionId, progress, known)
        .catch((error) => {
          if (!stopping.aborted)
            log.error({ execution_id: executionId, error }, 'cannot continue an execution; recovery will take it');
        })
        .finally(() => {
          working.delete(executionId);
          progress.opened();
        });
      working.set(executionId, promise);
      return promise;
    },
    /** Waits up to `ms` for the end of an execution, also if another relay takes it over meanwhile. */
    async awaitEnd(executionId: string, progress: Progress, ended: Promise<void>, ms: number): Promise<void> {
      const until = performance.now() + ms;
      const taken = new Promise<void>((resolve) => awaited.set(executionId, resolve));
      await within(Promise.race([ended, taken]), ms);
      awaited.delete(executionId);
      while (progress.ended === null && performance.now() < until && !stopping.aborted) {
        const row = await readRow(executionId);
        if (row === 'away') {
          await pauseFor(WAIT_FIRST_MS);
          continue;
        }
        const isOver = row && ['ended', 'unpaid'].includes(standingOf(row));
        if (!row || row.lease_owner === journal.owner || isOver) return;
        await pauseFor(WAIT_FIRST_MS);
      }
    },
    /**
     * Wakes waiters here whose execution another relay has taken. It may end there long before this process finishes
     * its own work on it. One statement covers all of them.
     */
    async noticeTaken(): Promise<void> {
      if (awaited.size === 0) return;
      for (const id of await journal.takenByOthers([...awaited.keys()])) awaited.get(id)?.();
    },
    isOn: (executionId: string) => working.has(executionId),
    count: () => working.size,
    /** Resolves when all current work has finished. */
    idle: () => Promise.allSettled(working.values()),
  };
}

/** Rows that are left alone for a while. */
function createRests(journal: EngineDeps['journal']) {
  /** Last rest of each row, ms. */
  const resting = new Map<string, number>();

  /** Leaves a row alone, longer each time: only a person or a deadline can change anything. */
  async function begin(executionId: string): Promise<void> {
    const ms = Math.min((resting.get(executionId) ?? REST_FIRST_MS / 2) * 2, REST_MAX_MS);
    resting.set(executionId, ms);
    await journal.restUntil(executionId, Date.now() + ms);
  }

  return { begin, end: (executionId: string) => resting.delete(executionId) };
}
