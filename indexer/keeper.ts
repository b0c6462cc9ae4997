/**
 * Keeps the tables equal to the chain. After each pass (ingest.ts) it compares the provisional slots with the node's
 * list when that is due (reconcile.ts). Now and then it also compares the slots before them. It undoes and reapplies
 * what differs. It rebuilds the tables if a difference cannot be undone (rebuild.ts).
 */
import type { Logger } from 'pino';
import { forgetUndo } from './apply.ts';
import { closeGaps } from './gaps.ts';
import { type IngestDeps, pass, readCursor, readFinalized, UNDO_SLOTS } from './ingest.ts';
import { NotJoined } from './listing.ts';
import { describePruned } from './read.ts';
import { findDroppedReading } from './readings.ts';
import {
  type Difference,
  RESCAN_SLOTS,
  RebuildNeeded,
  readFinalizedProgress,
  reconcile,
  rejoin,
  takeBack,
} from './reconcile.ts';
import { findOldestGap, walkOn } from './walk.ts';

/**
 * Milliseconds between comparisons of the provisional slots. A dropped fork is noticed within this time, or by the next
 * pass.
 */
const COMPARE_MS = 2_000;
const RESCAN_MS = 60_000;
/** Shortest interval between searches of the whole history for a known gap that was not found. */
const DEEP_MS = 600_000;

export interface KeeperOptions {
  ingest: Omit<IngestDeps, 'onGap' | 'onPruned'>;
  log: Logger;
  /** Builds the tables again beside the present ones, and replaces those. */
  rebuild(): Promise<void>;
  /** Milliseconds between searches of the last slots for transactions that the node left out. */
  rescanMs?: number | undefined;
  compareMs?: number | undefined;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

export interface Keeper {
  /**
   * Applies what is new and compares what is due. Returns the slot up to which the tables are complete. Throws as
   * `pass` does.
   */
  look(): Promise<bigint>;
  /** Searches the last slots in the next look: a gap is known, or the node was unreachable. */
  hurry(): void;
}

/** Logs a difference. Returns whether anything was undone. */
function tell(log: Logger, difference: Difference | null): boolean {
  if (!difference) return false;
  const { missing, vanished, keptSlot } = difference;
  log.warn(
    { missing: missing.length, vanished: vanished.length, slot: Number(keptSlot) },
    "the index differed from the node's list of transactions: rolled back to this slot and reapplied",
  );
  return true;
}

async function takeBackTo({ db }: IngestDeps, log: Logger, slot: bigint): Promise<true> {
  log.warn({ slot: Number(slot) }, 'the index lacks an older transaction: rolled back to the slot before it');
  await takeBack(db, slot - 1n);
  return true;
}

/** Rolls back transactions if their accounts were read after a block that the chain has dropped. */
async function takeBackDropped(deps: IngestDeps, log: Logger): Promise<void> {
  const slot = await findDroppedReading(deps);
  if (slot === null) return;
  log.warn(
    { slot: Number(slot) },
    'accounts were read after a block that the chain has dropped: rolled back to this slot and reapplied',
  );
  await takeBack(deps.db, slot - 1n);
}

/**
 * Runs a pass. If the node's list does not reach the cursor, it rolls the tables back to where they agree, and retries.
 */
async function passJoined(deps: IngestDeps, log: Logger): Promise<bigint> {
  try {
    return await pass(deps);
  } catch (error) {
    if (!(error instanceof NotJoined) || !tell(log, await rejoin(deps, error))) throw error;
    return pass(deps);
  }
}

export function createKeeper(options: KeeperOptions): Keeper {
  const { log, now = () => performance.now() } = options;
  const { db } = options.ingest;
  let compareAt = 0;
  let searchAt = 0;
  let deepAt = 0;
  let readingsAt = 0;
  /** The history must be searched again, after the start and after the node was unreachable. */
  let isWalkDue = true;
  let searchedTo: bigint | null = null;
  /** Gaps are tried again once after the start. */
  let areGapsDue = true;
  /** A transaction depends on one that the tables lack. */
  let hasEvidence = false;

  const deps: IngestDeps = {
    ...options.ingest,
    onGap(evidence) {
      log.warn({ reason: evidence.message }, 'the node left out a transaction; the accounts are read instead');
      hasEvidence = true;
      searchAt = 0;
    },
    onUnreadable: (signature, reason) => log.warn({ signature }, `${reason}; the index has a gap until it can be read`),
    onPruned: (slots) => log.warn(`${describePruned(slots)}; every account is read instead`),
  };

  /** Compares what is due. Returns whether anything was undone. */
  async function compare(head: bigint): Promise<boolean> {
    const isSearch = now() >= searchAt;
    if (!isSearch && now() < compareAt) return false;
    // Read first: the list read next then includes everything final by now.
    const finalized = await readFinalized(deps);
    const trusted = await readFinalizedProgress(db);
    const searchFrom = (searchedTo ?? head) - RESCAN_SLOTS;
    const provisional = trusted ?? searchFrom;
    const cursor = await readCursor(db);
    const from = isSearch && searchFrom < provisional ? searchFrom : provisional;
    const isOpen = cursor && (isSearch || cursor.slot > provisional);
    if (isOpen && tell(log, await reconcile(deps, from > 0n ? from : 0n))) return true;
    if (isSearch && hasEvidence && (await searchDeep())) return true;
    const reached = finalized < head ? finalized : head;
    if (trusted === null || reached > trusted) {
      const trust = { finalized_slot: reached };
      await db.transaction().execute((transaction) => transaction.updateTable('progress').set(trust).execute());
    }
    if (isSearch) {
      await forgetUndo(db, reached - UNDO_SLOTS);
      searchedTo = head;
      searchAt = now() + (options.rescanMs ?? RESCAN_MS);
    }
    compareAt = now() + (options.compareMs ?? COMPARE_MS);
    return walk();
  }

  /** Searches one batch of the history for a gap that no other check has found. */
  async function walk(): Promise<boolean> {
    const slot = await walkOn(deps, isWalkDue);
    isWalkDue = false;
    return slot !== null && takeBackTo(deps, log, slot);
  }

  /** Applies transactions again if their accounts were read after a block that the chain has dropped. */
  async function checkReadings(): Promise<void> {
    if (now() < readingsAt) return;
    await takeBackDropped(deps, log);
    readingsAt = now() + (options.compareMs ?? COMPARE_MS);
  }

  /** Searches for a gap older than the last slots. */
  async function searchDeep(): Promise<boolean> {
    hasEvidence = false;
    if (now() < deepAt) return false;
    deepAt = now() + DEEP_MS;
    const slot = await findOldestGap(deps);
    return slot !== null && takeBackTo(deps, log, slot);
  }

  return {
    hurry() {
      searchAt = 0;
      isWalkDue = true;
    },
    async look() {
      try {
        // Runs before the pass, which may apply more than can be undone.
        await checkReadings();
        const head = await passJoined(deps, log);
        if (areGapsDue) await closeGaps(deps, log);
        areGapsDue = false;
        return (await compare(head)) ? await passJoined(deps, log) : head;
      } catch (error) {
        if (!(error instanceof RebuildNeeded)) throw error;
        log.warn({ reason: error.message }, 'the difference cannot be rolled back: rebuilding the index');
        await options.rebuild();
        searchedTo = null;
        return passJoined(deps, log);
      }
    },
  };
}
