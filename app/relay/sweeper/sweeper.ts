/**
 * The sweeper returns the rent of ended accounts to its lenders, by archiving and closing. It sends back deposits that
 * the ledger has lost, moves refunds that cannot be received, and follows the archives' trees, so that proofs can be
 * shown. One relay sweeps for all that share the ledger; if its round fails, another takes over. It can be killed at any
 * step: the chain shows the remaining work, and the next sweeper follows sent transactions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { RECORD_SIZE } from '../../sdk/program/program.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { ArchiveNodes } from '../ledger/archiveNodes.ts';
import type { Leadership } from '../ledger/leadership.ts';
import { SWEEP, type SweepTransactions } from '../ledger/sweepTransactions.ts';
import type { Databases } from '../ledger/tables.ts';
import { runEvery } from '../waiting.ts';
import { archiveRipe } from './archiving.ts';
import { countRecords, hasWork } from './candidates.ts';
import { closeDisputes, closeRefunded } from './closing.ts';
import { returnLost } from './deposits.ts';
import { moveUnclaimed } from './moving.ts';
import { createResting } from './resting.ts';
import { createSending, Interrupted } from './sending.ts';
import { followTrees, newFollowing } from './trees.ts';

/** Pause between two rounds. A round without work is a few statements in our own ledger. */
const PAUSE_MS = 5_000;
/** Pause before the trees are followed again, also during a round: as long as a new leaf waits for its proof. */
const FOLLOW_MS = 2_000;
/**
 * Transactions in flight for each second that one takes: 768 records a second with up to 48 records each, 192 with
 * twelve, if the node does not know version 1. One takes a finality, and half a second for everything else.
 */
const IN_FLIGHT_PER_SECOND = 16;
const OWN_MS = 500;
/** A record that could be a leaf for longer, and waits no more for others, is late. */
const LATE_SECONDS = 3_600;
/**
 * Longer than a transaction can land, 30 s, and its end becomes final, at most 14 s. After this time another relay
 * sweeps, because its node may answer.
 */
const PATIENCE_MS = 90_000;

export interface SweepSettings {
  /** False: only follows trees for their proofs, and returns lost deposits. */
  isOn: boolean;
  /** How long a ripe account waits for others to share a transaction, seconds. */
  waitSeconds: number;
}

interface SweeperDeps extends Pick<Databases, 'views'> {
  chain: Pick<
    RelayChain,
    'authority' | 'connection' | 'finality' | 'read' | 'clock' | 'sign' | 'signMany' | 'simulate' | 'submit'
  >;
  nodes: ArchiveNodes;
  transactions: SweepTransactions;
  leadership: Leadership;
  settings: SweepSettings;
  /** Lamports that the relay authority must keep after paying for a tree. */
  minLamports: number;
  usdcMint: PublicKey;
  /** Called with the network fees of its transactions, lamports. */
  spent(lamports: bigint): void;
  log: Logger;
}

/** Lamports, except counts and seconds. `locked` and `archivable` use the rent of a record in the last round. */
export interface SweepFigures {
  /** In the records of ended executions. */
  locked: number;
  /** The part of it in records that could be leaves now. */
  archivable: number;
  archivableRecords: number;
  /** How long the oldest of them whose rent this deployment has lent could have been a leaf; 0 if there is none. */
  oldestArchivableSeconds: number;
  /** True if that is too long, and an operator should look for the cause. */
  isLate: boolean;
  /** Returned by this process since it started. */
  returned: number;
  mismatchedTrees: number;
}

export type Sweeper = ReturnType<typeof startSweeper>;

/** Sweeps from now on, until `end`. The options are for tests. */
export function startSweeper(
  deps: SweeperDeps,
  { pauseMs = PAUSE_MS, followMs = FOLLOW_MS, patienceMs = PATIENCE_MS } = {},
) {
  const { chain, views, transactions, leadership, settings, log } = deps;
  const stopping = new AbortController();
  const stop = stopping.signal;
  const sending = createSending({ chain, transactions, stop, patienceMs, spent: deps.spent, log: deps.log });
  const resting = createResting(Date.now);
  const following = newFollowing();
  let leads = false;
  let returned = 0;
  let rent = 0;
  const sweep = {
    ...deps,
    sending,
    resting,
    stop,
    inFlight: Math.ceil((IN_FLIGHT_PER_SECOND * (chain.finality.ms + OWN_MS)) / 1_000),
    waitSeconds: settings.waitSeconds,
    returned(lamports: number) {
      returned += lamports;
    },
  };

  async function round(): Promise<void> {
    leads = await leadership.leads(SWEEP);
    if (!leads) return;
    await sending.finish();
    await returnLost(sweep, chain.clock());
    if (!settings.isOn || !(await hasWork(views))) return;
    const { now } = await chain.read([]);
    rent = await chain.connection.getMinimumBalanceForRentExemption(RECORD_SIZE);
    await moveUnclaimed(sweep, now);
    await archiveRipe(sweep, now);
    await closeRefunded(sweep, now);
    await closeDisputes(sweep, now);
  }

  /** If, for example, our node is down, another relay with its own node takes over before our next round. */
  async function leave(): Promise<void> {
    leads = false;
    await leadership.leave(SWEEP).catch((error) => log.warn({ error }, 'cannot release the lease of the sweeper'));
  }

  async function run(): Promise<void> {
    while (!stop.aborted) {
      await round().catch((error) => {
        if (error instanceof Interrupted) log.debug({ reason: error.message }, 'the sweep was interrupted');
        else log.warn({ error }, 'the sweep failed; it will be retried');
        return leave();
      });
      await sleep(pauseMs, null, { signal: stop }).catch(() => undefined);
    }
  }
  const running = run();
  const endFollowing = runEvery(
    followMs,
    async () => {
      if (leads) await followTrees(sweep, following);
    },
    (error) => log.warn({ error }, 'cannot follow the archives; it will be retried'),
  );

  return {
    async figures(): Promise<SweepFigures> {
      const now = chain.clock();
      const { kept, ripe, ripe_since } = await countRecords(views, now);
      const oldest = ripe_since === null ? 0 : Number(now - ripe_since);
      return {
        locked: Number(kept) * rent,
        archivable: Number(ripe) * rent,
        archivableRecords: Number(ripe),
        oldestArchivableSeconds: oldest,
        isLate: settings.isOn && oldest > settings.waitSeconds + LATE_SECONDS,
        returned,
        mismatchedTrees: following.mismatched.size,
      };
    },
    /** Ends the round. A sent transaction stays stored, and the next sweeper follows it. */
    async end(): Promise<void> {
      stopping.abort();
      await Promise.all([running, endFollowing()]);
    },
  };
}
