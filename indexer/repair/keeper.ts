/**
 * Keeps the tables equal to the chain. Each pass (ingest.ts) applies what is new. Small checks find what a node that
 * lags or forgets has left out: a second list of the last slots (late.ts), and accounts beside rows (repair.ts). Only
 * passes and the check for a restart of the cluster can fail a look. A restart alone takes final blocks back: then the
 * tables are built again (rebuild.ts), and until that succeeds nothing is applied.
 */
import type { Logger } from 'pino';
import { readLastRestart } from '../../app/solana/lastRestart.ts';
import { reportProgress } from '../chain/backfill.ts';
import { type IngestDeps, pass } from '../chain/ingest.ts';
import { NotJoined } from '../chain/listing.ts';
import { describePruned, readProgress, readRestartSlot } from '../queries/read.ts';
import { closeGaps } from './gaps.ts';
import { applyMissed, RESCAN_SLOTS } from './late.ts';
import { createRepair } from './repair.ts';

const RESCAN_MS = 60_000;
/** A node that lags behind joins the tables sooner. */
const NOT_JOINED_MS = 120_000;

export interface KeeperOptions {
  ingest: Omit<IngestDeps, 'onGap' | 'onProgress' | 'onPruned' | 'onUnreadable'>;
  log: Logger;
  /** Builds the tables again beside the present ones, and replaces those. */
  rebuild(): Promise<void>;
  /** Milliseconds between second lists of the last slots. */
  rescanMs?: number | undefined;
  /** Milliseconds between comparisons of rows with accounts. */
  repairMs?: number | undefined;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

export type Keeper = ReturnType<typeof createKeeper>;

export function createKeeper(options: KeeperOptions) {
  const { log, rescanMs = RESCAN_MS, now = () => performance.now() } = options;
  const { db, connection } = options.ingest;
  let rescanAt = 0;
  let restartAt = 0;
  let searchedTo: bigint | null = null;
  /** Since when the node's list has not reached the tables. */
  let apartSince: number | null = null;
  /** Gaps are tried again once after the start. */
  let areGapsDue = true;

  const deps: IngestDeps = {
    ...options.ingest,
    onProgress: reportProgress(log, now),
    onGap(evidence) {
      log.warn({ reason: evidence.message }, 'the node left out a transaction; the accounts are read instead');
      rescanAt = 0;
    },
    onUnreadable: (signature, reason) => log.warn({ signature }, `${reason}; the index has a gap until it can be read`),
    onPruned: (slots) => log.warn(`${describePruned(slots)}; every account is read instead`),
  };
  const repair = createRepair(deps, log, now, options.repairMs);

  /** Only a restart of the cluster can take back final blocks. */
  async function checkRestart(): Promise<void> {
    if (now() < restartAt) return;
    const [known, present] = [await readRestartSlot(db), await readLastRestart(connection)];
    if (known !== null && present < known) {
      throw new Error(`the node has not seen the restart of the cluster in slot ${known}: it is on another chain`);
    }
    if (known !== null && present > known) {
      log.warn({ slot: Number(present) }, 'the cluster was restarted: rebuilding the index');
      await options.rebuild();
      searchedTo = null;
    }
    restartAt = now() + rescanMs;
  }

  /** Applies what is new. Says what helps if the node's list does not reach the tables for long. */
  async function passOn(): Promise<bigint> {
    try {
      const head = await pass(deps);
      apartSince = null;
      return head;
    } catch (error) {
      if (!(error instanceof NotJoined)) throw error;
      apartSince ??= now();
      if (now() - apartSince < NOT_JOINED_MS) throw error;
      const help = 'ask another node, or run `npm run indexer -- rebuild` if this one is right';
      throw new Error(`${error.message}, for minutes now: ${help}`, { cause: error });
    }
  }

  /** Lists the last slots again. */
  async function rescan(head: bigint): Promise<void> {
    if (now() < rescanAt) return;
    rescanAt = now() + rescanMs;
    const from = (searchedTo ?? head) - RESCAN_SLOTS;
    const { applied, unread } = await applyMissed(deps, from > 0n ? from : 0n, head);
    if (applied.length > 0)
      log.warn({ signatures: applied }, 'the node listed transactions late; they are applied now');
    if (unread) log.warn({ signature: unread.signature }, 'the node lists a transaction that it does not have');
    searchedTo = unread && unread.slot < head ? unread.slot : head;
  }

  /** What only repairs must not hold up new transactions. */
  async function attempt(what: string, action: () => Promise<void>): Promise<void> {
    await action().catch((error: Error) =>
      log.warn({ error: error.message }, `${what} failed; it will be tried again`),
    );
  }

  return {
    /** Makes every check in the next looks: something is missing, or the node was unreachable. */
    hurry(): void {
      rescanAt = 0;
      repair.request();
    },
    /**
     * Applies what is new and checks what is due. Returns the slot up to which the tables are complete. Throws as `pass`
     * does.
     */
    async poll(): Promise<bigint> {
      await checkRestart();
      // After a start, slots that the last process did not search again are searched.
      searchedTo ??= (await readProgress(db))?.slot ?? null;
      const head = await passOn();
      if (areGapsDue) await closeGaps(deps, head, log);
      areGapsDue = false;
      await attempt('the second list of transactions', () => rescan(head));
      await attempt('the comparison of rows with accounts', () => repair.step(head));
      return head;
    },
  };
}
