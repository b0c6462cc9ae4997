/**
 * The sweeper: rent that waits in ended accounts goes back to who lent it, by archiving and closing; and the trees of
 * the archives are followed, so that proofs can be shown. One relay sweeps, however many share the ledger, and one whose
 * round fails leaves that to the others. It can be killed at any step: the chain says what is left to do, and what was sent is
 * followed by whoever sweeps next.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { RelayChain } from '../chain/relayChain.ts';
import type { ArchiveNodes } from '../ledger/archiveNodes.ts';
import type { SweepPlace } from '../ledger/archiveSweep.ts';
import type { Leases } from '../ledger/leases.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { archiveRipe } from './archiving.ts';
import { countRecords, hasKept } from './candidates.ts';
import { closeDisputes, closeRefunded } from './closing.ts';
import { createResting } from './resting.ts';
import { createSending, Interrupted } from './sending.ts';
import { followTrees, type Mismatched } from './trees.ts';

/** Between two rounds. One that finds nothing to do is a few statements in our own files. */
const PAUSE_MS = 5_000;
/** Well beyond the life of a transaction, and the finality that proves its end: the node is silent, and others may do better. */
const PATIENCE_MS = 180_000;
/** An ExecutionRecord with its discriminator. */
const RECORD_BYTES = 294;

export interface SweepSettings {
  /** `on`: archives, and makes trees; `existing`: archives where a tree is; `off`: only follows trees for their proofs. */
  mode: 'on' | 'existing' | 'off';
  /** How long what could go waits for others to share a transaction with, seconds. */
  waitSeconds: number;
}

export interface SweeperDeps {
  chain: Pick<RelayChain, 'authority' | 'connection' | 'read' | 'clock' | 'sign' | 'simulate' | 'submit'>;
  views: Kysely<LedgerDatabase>;
  nodes: ArchiveNodes;
  place: SweepPlace;
  leases: Pick<Leases, 'alive'>;
  settings: SweepSettings;
  /** What a tree must leave the relay authority, lamports. */
  minLamports: number;
  log: Logger;
}

/** Lamports, but for the counts; by the rent of a record as it was in the last round. */
export interface SweepFigures {
  /** In the records of executions that have ended. */
  locked: number;
  /** Of these, in records that could be leaves now. */
  archivable: number;
  /** Given back by this process since it started. */
  returned: number;
  archivedExecutions: number;
  mismatchedTrees: number;
}

export interface Sweeper {
  figures(): Promise<SweepFigures>;
  /** Ends the round; what was sent stays stored, and whoever sweeps next follows it. */
  end(): Promise<void>;
}

/** Sweeps from now on, until `end`; the options are for tests. */
export function startSweeper(deps: SweeperDeps, { pauseMs = PAUSE_MS, patienceMs = PATIENCE_MS } = {}): Sweeper {
  const { chain, views, place, settings, log } = deps;
  const stopping = new AbortController();
  const stop = stopping.signal;
  const sending = createSending({ chain, place, stop, patienceMs });
  const resting = createResting(Date.now);
  const mismatched: Mismatched = new Set();
  let returned = 0;
  let rent = 0;
  const sweep = {
    ...deps,
    sending,
    resting,
    stop,
    waitSeconds: settings.waitSeconds,
    makesTrees: settings.mode === 'on',
    returned(lamports: number) {
      returned += lamports;
    },
  };

  async function round(): Promise<void> {
    if (!(await place.take(await deps.leases.alive(Date.now())))) return;
    await sending.finish();
    await followTrees(sweep, mismatched);
    if (settings.mode === 'off' || !(await hasKept(views))) return;
    const { now } = await chain.read([]);
    rent = await chain.connection.getMinimumBalanceForRentExemption(RECORD_BYTES);
    await archiveRipe(sweep, now);
    await closeRefunded(sweep, now);
    await closeDisputes(sweep, now);
  }

  const leave = () =>
    place.leave().catch((error) => log.warn({ error: String(error) }, 'the place of the sweeper was not left'));

  async function run(): Promise<void> {
    while (!stop.aborted) {
      await round().catch((error) => {
        if (error instanceof Interrupted) log.debug({ reason: error.message }, 'the sweeping was interrupted');
        else log.warn({ error: String(error) }, 'the sweeping failed; it will be tried again');
        // As where its node is away: another relay, with a node of its own, takes the place before the next round here.
        return leave();
      });
      await sleep(pauseMs, null, { signal: stop }).catch(() => undefined);
    }
    await leave();
  }
  const running = run();

  return {
    async figures() {
      const { kept, ripe, archived } = await countRecords(views, chain.clock());
      return {
        locked: Number(kept) * rent,
        archivable: Number(ripe) * rent,
        returned,
        archivedExecutions: Number(archived),
        mismatchedTrees: mismatched.size,
      };
    },
    async end() {
      stopping.abort();
      await running;
    },
  };
}
