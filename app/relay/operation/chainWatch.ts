/**
 * Watches the cluster as a whole, and closes the gate for new executions: while its final blocks are old, because the
 * node or the cluster stands still, and from a restart of the cluster until index and ledger fit the chain again.
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { describeSkew } from '../../solana/clock.ts';
import { FAST } from '../../solana/finality.ts';
import { LAST_RESTART_ADDRESS, lastRestartIn } from '../../solana/lastRestart.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { readRestart, storeRestart } from '../ledger/restarts.ts';
import type { LedgerTables } from '../ledger/tables.ts';
import { runEvery } from '../waiting.ts';
import type { Gate } from './gate.ts';

const POLL_MS = 2_000;
/** Nodes and cluster are compared with this clock, so it may be wrong by less than half of their limit. */
export const MAX_SKEW_MS = 7_000;
/** Final blocks that are older than this on a fast cluster show no present; a slower one has its finality in addition. */
export const OLD_MS = 15_000 - FAST.ms;

export type ChainWatch = ReturnType<typeof createChainWatch>;

export function createChainWatch(options: {
  chain: Pick<RelayChain, 'read' | 'readAgreed' | 'finality'>;
  ledger: Kysely<LedgerTables>;
  gate: Pick<Gate, 'set'>;
  /** The restart for which the index was built; null if it has not been built. */
  readIndexRestart(): Promise<bigint | null>;
  /** Compares the ledger with the chain. Runs in one relay at a time; false if another relay does it, or if it has to run again. */
  compare(): Promise<boolean>;
  /** Unix milliseconds. */
  now(): number;
  /** By how much `now` is ahead of the nodes' clocks, milliseconds; negative if it is behind. */
  aheadMs(): number;
  log: Logger;
}) {
  const { chain, ledger, gate, log } = options;
  const oldMs = OLD_MS + chain.finality.ms;
  /** Unix seconds on the chain's clock at the last reading. */
  let clock: bigint | null = null;
  let wasOld = false;
  let wasWrong = false;
  /** The restart that was last reported. */
  let reported: bigint | null = null;
  let stopFollowing: (() => Promise<void>) | undefined;
  let ticker: NodeJS.Timeout | undefined;
  let isReading = false;
  let isOver = false;

  function setClock(aheadMs: number): void {
    const isWrong = Math.abs(aheadMs) > MAX_SKEW_MS;
    const words = `${describeSkew(aheadMs)} the Solana node’s`;
    if (isWrong && !wasWrong)
      log.error({ ms: aheadMs }, `the clock of this machine is ${words}; new executions are refused`);
    if (!isWrong && wasWrong) log.info({ ms: aheadMs }, 'the clock of this machine is right again');
    wasWrong = isWrong;
    const advice = `The clock of this machine is ${words}. Set it by NTP (\`timedatectl set-ntp true\`). Nothing needs a restart.`;
    gate.set('clock_wrong', isWrong, advice);
  }

  function setAge(): void {
    const aheadMs = options.aheadMs();
    setClock(aheadMs);
    if (clock === null) return;
    const ageMs = options.now() - aheadMs - Number(clock) * 1_000;
    const isOld = ageMs > oldMs;
    if (isOld && !wasOld) log.error({ age_ms: ageMs }, 'the final blocks are old; new executions are refused');
    if (!isOld && wasOld) log.info({ age_ms: ageMs }, 'the final blocks are recent again');
    wasOld = isOld;
    gate.set('chain_behind', isOld);
  }

  /** A node that lags behind another one does not matter: the relay reads from one that is up. */
  async function readClock(): Promise<void> {
    clock = (await chain.read([])).now;
    setAge();
  }

  async function followRestart(): Promise<void> {
    const { accounts } = await chain.readAgreed([LAST_RESTART_ADDRESS]);
    const present = lastRestartIn(accounts[0]);
    if ((await readRestart(ledger, present)) === present) return gate.set('chain_restarted', false);
    gate.set('chain_restarted', true);
    if (reported !== present) {
      log.error({ restart_slot: Number(present) }, 'the cluster was restarted; new executions are refused');
      reported = present;
    }
    if ((await options.readIndexRestart()) !== present || !(await options.compare())) return;
    await storeRestart(ledger, present);
    gate.set('chain_restarted', false);
    log.info('the ledger was compared with the chain after the restart of the cluster');
  }

  function readClockAgain(): void {
    // Without an answer, the last reading grows old.
    setAge();
    if (isReading) return;
    isReading = true;
    readClock()
      .catch((error) => log.warn({ error }, 'cannot read the clock of the chain'))
      .finally(() => {
        isReading = false;
      });
  }

  return {
    /** Polls once. Throws if the node does not answer. */
    async poll(): Promise<void> {
      await readClock();
      await followRestart();
    },
    /** Polls regularly from now on. */
    start(): void {
      if (isOver) return;
      const onError = (error: unknown) => log.warn({ error }, 'cannot follow restarts of the cluster');
      stopFollowing = runEvery(POLL_MS, followRestart, onError, 0);
      // On its own: a comparison may take long, and a node may not answer.
      ticker = setInterval(readClockAgain, POLL_MS).unref();
    },
    end() {
      isOver = true;
      void stopFollowing?.();
      clearInterval(ticker);
    },
  };
}
