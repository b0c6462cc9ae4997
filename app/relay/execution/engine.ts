/**
 * Runs one paid call: claims an id, checks the money, stores the open, and works on the row until it ends. Then it
 * answers the caller. A caller that disconnects stops nothing.
 */
import { setMaxListeners } from 'node:events';
import { isTemporary } from '../../database/temporary.ts';
import type { Agent } from '../agents/catalog.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { within } from '../waiting.ts';
import { createBeginning } from './begin/begin.ts';
import type { DepositCall, ExecuteOutcome, OpenedCall, PaidCall, Principal } from './contract.ts';
import { type EngineDeps, newProgress, type Progress } from './deps.ts';
import { outcomeOf } from './outcome.ts';
import { adoptOrphans, parkLanded } from './recovery/orphans.ts';
import { recover } from './recovery/recover.ts';
import { countRents } from './recovery/rents.ts';
import { createSharing } from './sharing.ts';
import { standingOf } from './standing.ts';
import { createWork } from './work.ts';

/** How long an asynchronous caller waits for its escrow, beyond the finality of the open, before the answer is `running`. */
const ASYNC_WAIT_MS = 9_500;
/** Time that a synchronous caller waits beyond its timeout and the finality of the two transactions. */
const SYNC_MARGIN_MS = 9_000;
/** The same for a call that is paid into a deposit, which takes two more transactions. */
const BUY_MARGIN_MS = 28_000;

export type RunningEngine = ReturnType<typeof createEngine>;

/** Creates the engine of paid executions. It does nothing until it is called. */
export function createEngine(deps: EngineDeps) {
  const { chain, journal, log } = deps;
  const { ms: finalityMs } = chain.finality;
  const stopping = new AbortController();
  // Every execution in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const sharing = createSharing(deps);
  const work = createWork(deps, sharing, stopping.signal);
  const beginning = createBeginning(deps, sharing);

  const patienceOf = ({ timeoutSeconds }: Pick<PaidCall, 'timeoutSeconds'>) =>
    timeoutSeconds * 1_000 + SYNC_MARGIN_MS + 2 * finalityMs;

  /** Begins a new execution and its work. `opened` resolves when its escrow is funded, or the work has ended before. */
  async function launch(begin: (progress: Progress) => Promise<JournalRow>, output?: PaidCall['output']) {
    let signalOpened: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      signalOpened = resolve;
    });
    const progress = newProgress({ isFresh: true, opened: signalOpened, output });
    const begun = await begin(progress);
    const executionId = begun.execution_id;
    const ended = work.on(executionId, progress, begun.state === 'accepted' ? undefined : begun);
    return { executionId, progress, opened, ended };
  }

  return {
    /** Answers as soon as the caller's mode allows. The work continues without the caller. */
    async execute(principal: Principal, agent: Agent, call: PaidCall): Promise<ExecuteOutcome> {
      const begin = (progress: Progress) => beginning.begin(principal, agent, call, progress);
      const { executionId, progress, opened, ended } = await launch(begin, call.output);
      return runningIfAway(executionId, async () => {
        if (call.async) {
          await within(opened, ASYNC_WAIT_MS + finalityMs);
          const row = await journal.get(executionId);
          if (row?.state === 'accepted' || row?.state === 'open_signed') return { kind: 'running', executionId };
          if (row && row.state !== 'void') return { kind: 'pending', executionId };
        } else {
          await work.awaitEnd(executionId, progress, ended, patienceOf(call));
        }
        return outcomeOf(deps, executionId, progress);
      });
    },
    async buy(agent: Agent, call: DepositCall): Promise<ExecuteOutcome> {
      const { executionId, progress, opened, ended } = await launch((progress) => beginning.buy(agent, call, progress));
      call.prepared(opened.then(async () => (await journal.get(executionId))?.state === 'void'));
      return runningIfAway(executionId, async () => {
        if (call.async) {
          await within(Promise.race([opened, ended]), ASYNC_WAIT_MS + 2 * finalityMs);
          const row = await journal.get(executionId);
          if (row?.opened_at && standingOf(row) === 'running') return { kind: 'pending', executionId };
        } else {
          const limitMs = call.timeoutSeconds * 1_000 + BUY_MARGIN_MS + 3 * finalityMs;
          await work.awaitEnd(executionId, progress, ended, limitMs);
        }
        return outcomeOf(deps, executionId, progress);
      });
    },
    async start(agent: Agent, call: OpenedCall): Promise<ExecuteOutcome> {
      const executionId = await beginning.beginOpened(agent, call);
      const progress = newProgress({ isFresh: false, output: call.output });
      const ended = work.on(executionId, progress);
      if (call.async) return { kind: 'pending', executionId };
      return runningIfAway(executionId, async () => {
        await work.awaitEnd(executionId, progress, ended, patienceOf(call));
        return outcomeOf(deps, executionId, progress);
      });
    },
    outcomeOf: (executionId: string) => outcomeOf(deps, executionId, newProgress({ isFresh: false })),
    inFlight: work.count,
    /**
     * Adds a row for each orphan, an open record without a row, so that its money returns to the caller. Checks these
     * addresses, or all records of the chain.
     */
    adoptOrphans: (records?: readonly string[]) => adoptOrphans(deps, log, records),
    /** Parks these rows: their opens have landed although their deposits count as returned. */
    parkLanded: (rows: readonly Pick<JournalRow, 'execution_id' | 'state'>[]) => parkLanded(deps, log, rows),
    /** Takes the rows of dead relays, and continues every unfinished row that nobody works on. */
    recover: () => recover(deps, work, beginning),
    /** Records which of the lent rents were returned. */
    countRents: () => countRents(chain, journal),
    /** Resolves when all current work has finished. */
    idle: work.idle,
    /** Ends all waiting and lets the current steps return. The journal keeps the unfinished rows. */
    async stop() {
      stopping.abort(new Error('stopping'));
      await work.idle();
    },
  };
}

/**
 * If the row cannot be read, the execution still runs. A retry would ask for a second one, so the answer is `running`.
 */
function runningIfAway(executionId: string, read: () => Promise<ExecuteOutcome>): Promise<ExecuteOutcome> {
  return read().catch((error) => {
    if (isTemporary(error)) return { kind: 'running', executionId };
    throw error;
  });
}
