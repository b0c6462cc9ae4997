/**
 * The sweeper returns the rent of ended accounts to its lenders, by archiving and closing. It sends back deposits that
 * the ledger has lost, and follows the archives' trees, so that proofs can be shown. One relay sweeps for all that share
 * the ledger; if its round fails, another takes over. It can be killed at any step: the chain shows the remaining work,
 * and the next sweeper follows sent transactions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { RelayChain } from '../chain/relayChain.ts';
import { RECORD_BYTES } from '../chain/rent.ts';
import type { ArchiveNodes } from '../ledger/archiveNodes.ts';
import type { SweepPlace } from '../ledger/archiveSweep.ts';
import type { Leases } from '../ledger/leases.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { archiveRipe } from './archiving.ts';
import { countRecords, hasKept } from './candidates.ts';
import { closeDisputes, closeEscrows, closeRefunded } from './closing.ts';
import { returnLost } from './deposits.ts';
import { createResting } from './resting.ts';
import { createSending, Interrupted } from './sending.ts';
import { followTrees, type Mismatched } from './trees.ts';

/** Pause between two rounds. A round without work is a few statements in our own ledger. */
const PAUSE_MS = 5_000;
/**
 * Longer than a transaction can land, 30 s, and its end becomes final, at most 14 s. After this time another relay
 * sweeps, because its node may answer.
 */
const PATIENCE_MS = 90_000;

export interface SweepSettings {
  /**
   * `on`: archives, and makes trees. `existing`: archives if a tree exists. `off`: only follows trees for their proofs,
   * and returns lost deposits.
   */
  mode: 'on' | 'existing' | 'off';
  /** How long a ripe account waits for others to share a transaction, seconds. */
  waitSeconds: number;
}

export interface SweeperDeps {
  chain: Pick<RelayChain, 'authority' | 'connection' | 'read' | 'clock' | 'sign' | 'simulate' | 'submit'>;
  views: Kysely<LedgerDatabase>;
  nodes: ArchiveNodes;
  place: SweepPlace;
  leases: Pick<Leases, 'alive'>;
  settings: SweepSettings;
  /** Lamports that the relay authority must keep after paying for a tree. */
  minLamports: number;
  usdcMint: PublicKey;
  log: Logger;
}

/** Lamports, except the counts. `locked` and `archivable` use the rent of a record in the last round. */
export interface SweepFigures {
  /** In the records of ended executions. */
  locked: number;
  /** The part of it in records that could be leaves now. */
  archivable: number;
  /** Returned by this process since it started. */
  returned: number;
  archivedExecutions: number;
  mismatchedTrees: number;
}

export interface Sweeper {
  figures(): Promise<SweepFigures>;
  /** Ends the round. A sent transaction stays stored, and the next sweeper follows it. */
  end(): Promise<void>;
}

/** Sweeps from now on, until `end`. The options are for tests. */
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
    await returnLost(sweep, chain.clock());
    await followTrees(sweep, mismatched);
    if (settings.mode === 'off' || !(await hasKept(views))) return;
    const { now } = await chain.read([]);
    rent = await chain.connection.getMinimumBalanceForRentExemption(RECORD_BYTES);
    await archiveRipe(sweep, now);
    await closeRefunded(sweep, now);
    await closeEscrows(sweep, now);
    await closeDisputes(sweep, now);
  }

  const leave = () => place.leave().catch((error) => log.warn({ error }, 'cannot release the lease of the sweeper'));

  async function run(): Promise<void> {
    while (!stop.aborted) {
      await round().catch((error) => {
        if (error instanceof Interrupted) log.debug({ reason: error.message }, 'the sweep was interrupted');
        else log.warn({ error }, 'the sweep failed; it will be retried');
        // If, for example, our node is down, another relay with its own node takes over before our next round.
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
