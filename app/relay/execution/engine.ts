/**
 * One paid call, from accepted to answered: take an id, check the money, store the open, let the steps carry the row to
 * its end, and tell the caller how it ended. A caller that goes away stops nothing.
 */
import { setMaxListeners } from 'node:events';
import { isTemporary } from '../../database/temporary.ts';
import type { Agent } from '../agents/catalog.ts';
import { within } from '../waiting.ts';
import { createBeginning } from './begin.ts';
import type { Engine, ExecuteOutcome, OpenedCall, PaidCall, Principal } from './contract.ts';
import { countRents, proveEnds } from './finality.ts';
import { adoptOrphans } from './orphans.ts';
import { outcomeOf } from './outcome.ts';
import { recover } from './recover.ts';
import { type EngineDeps, newLive } from './step.ts';
import { createWork } from './work.ts';

/** How long an asynchronous caller waits for its escrow before it is told `running`. */
const ASYNC_WAIT_MS = 10_000;
/** What a synchronous caller waits beyond its timeout, for the two transactions. */
const SYNC_MARGIN_MS = 10_000;

/** The engine with what only the process that runs it may ask. */
export interface RunningEngine extends Engine {
  /**
   * Give every open record that we have no row of a row, so that its money finds its way back: of those at these addresses, or
   * of all that the chain has.
   */
  adoptOrphans(records?: readonly string[]): Promise<number>;
  /** Take what dead relays have left, and carry on every unfinished row that nobody works on. */
  recover(): Promise<void>;
  /** Look once more at what has ended, when the chain cannot take it back any longer. */
  proveEnds(): Promise<void>;
  /** Find out which of the rents that are lent have come back. */
  countRents(): Promise<void>;
  /** Resolves when nothing of what is being worked on now is any more. */
  idle(): Promise<unknown>;
  /** End all waiting and let the present steps return; the journal keeps what is unfinished. */
  stop(): Promise<void>;
}

/** The engine of paid executions. It does nothing before it is asked. */
export function createEngine(deps: EngineDeps): RunningEngine {
  const { chain, journal, log } = deps;
  const stopping = new AbortController();
  // Every execution in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const work = createWork(deps, stopping.signal);
  const beginning = createBeginning(deps);

  return {
    /** Answers as soon as the caller's mode allows; the work goes on without it. */
    async execute(principal: Principal, agent: Agent, call: PaidCall): Promise<ExecuteOutcome> {
      let signalOpened: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => {
        signalOpened = resolve;
      });
      const live = newLive({ isFresh: true, opened: signalOpened });
      const begun = await beginning.begin(principal, agent, call, live);
      const executionId = begun.execution_id;
      const ended = work.on(executionId, live, begun.state === 'accepted' ? undefined : begun);
      return runningIfAway(executionId, async () => {
        if (call.async) {
          await within(opened, ASYNC_WAIT_MS);
          const row = await journal.get(executionId);
          if (row?.state === 'accepted' || row?.state === 'open_signed') return { kind: 'running', executionId };
          if (row && row.state !== 'void') return { kind: 'pending', executionId };
        } else {
          await work.awaitEnd(executionId, live, ended, call.timeoutSeconds * 1_000 + SYNC_MARGIN_MS);
        }
        return outcomeOf(deps, executionId, live);
      });
    },
    async start(agent: Agent, call: OpenedCall): Promise<ExecuteOutcome> {
      const executionId = await beginning.beginOpened(agent, call);
      const live = newLive({ isFresh: false });
      const ended = work.on(executionId, live);
      if (call.async) return { kind: 'pending', executionId };
      return runningIfAway(executionId, async () => {
        await work.awaitEnd(executionId, live, ended, call.timeoutSeconds * 1_000 + SYNC_MARGIN_MS);
        return outcomeOf(deps, executionId, live);
      });
    },
    outcomeOf: (executionId: string) => outcomeOf(deps, executionId, newLive({ isFresh: false })),
    inFlight: work.count,
    adoptOrphans: (records) => adoptOrphans(deps, log, records),
    recover: () => recover(deps, work, beginning),
    proveEnds: () => proveEnds(deps, log),
    countRents: () => countRents(chain, journal),
    idle: work.idle,
    async stop() {
      stopping.abort(new Error('stopping'));
      await work.idle();
    },
  };
}

/** What has begun and cannot be read goes on: to tell its caller to come again would be to ask for a second one. */
function runningIfAway(executionId: string, read: () => Promise<ExecuteOutcome>): Promise<ExecuteOutcome> {
  return read().catch((error) => {
    if (isTemporary(error)) return { kind: 'running', executionId };
    throw error;
  });
}
