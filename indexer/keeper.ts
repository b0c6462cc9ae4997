/**
 * Keeps the tables what the chain says: after each pass (ingest.ts) it compares, when that is due, what may still be dropped,
 * and now and then the slots before it, with what the node lists (reconcile.ts). What differs is taken back and applied again;
 * where it cannot be taken back, everything is built again (rebuild.ts).
 */
import type { Logger } from 'pino';
import { forgetUndo } from './apply.ts';
import { type IngestDeps, pass, readCursor, readFinalized, UNDO_SLOTS } from './ingest.ts';
import { NotJoined } from './listing.ts';
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

/** How often the provisional slots are compared. A fork that is dropped is seen within this time, or by the next pass. */
const COMPARE_MS = 2_000;
const RESCAN_MS = 60_000;
/** How often the whole history may be looked through, for a gap that is known of and was not found. */
const DEEP_MS = 600_000;

export interface KeeperOptions {
  ingest: Omit<IngestDeps, 'onGap'>;
  log: Logger;
  /** Builds the tables again beside the present ones and puts them in their place. */
  rebuild(): Promise<void>;
  /** How often the last slots are looked through for what the node left out. */
  rescanMs?: number | undefined;
  compareMs?: number | undefined;
  /** Milliseconds, of a clock that only goes forward. */
  now?: () => number;
}

export interface Keeper {
  /** Applies what is new and compares what is due. Returns the slot up to which the tables are complete. Throws as `pass` does. */
  look(): Promise<bigint>;
  /** The last slots are to be searched at once: a gap has shown, or the node was out of reach for a while. */
  hurry(): void;
}

export function createKeeper(options: KeeperOptions): Keeper {
  const { log, now = () => performance.now() } = options;
  const { db } = options.ingest;
  let compareAt = 0;
  let searchAt = 0;
  let deepAt = 0;
  let readingsAt = 0;
  /** The history is to be looked through again: after the start, and after the node was out of reach. */
  let isWalkDue = true;
  let searchedTo: bigint | null = null;
  /** A transaction has built on one that is not there. */
  let hasEvidence = false;

  const deps: IngestDeps = {
    ...options.ingest,
    onGap(evidence) {
      log.warn({ reason: evidence.message }, 'the node left out a transaction; the accounts are read instead');
      hasEvidence = true;
      searchAt = 0;
    },
  };

  function tell(difference: Difference | null): boolean {
    if (!difference) return false;
    const { missing, vanished, keptSlot } = difference;
    log.warn(
      { missing: missing.length, vanished: vanished.length, slot: Number(keptSlot) },
      'the tables differed from what the node lists: taken back, and applied again from there',
    );
    return true;
  }

  /** Compares what is due, and says whether anything was taken back. */
  async function compare(head: bigint): Promise<boolean> {
    const isSearch = now() >= searchAt;
    if (!isSearch && now() < compareAt) return false;
    // Asked first: what is finalized by now is among what is listed next.
    const finalized = await readFinalized(deps);
    const trusted = await readFinalizedProgress(db);
    const searchFrom = (searchedTo ?? head) - RESCAN_SLOTS;
    const provisional = trusted ?? searchFrom;
    const cursor = await readCursor(db);
    const from = isSearch && searchFrom < provisional ? searchFrom : provisional;
    const isOpen = cursor && (isSearch || cursor.slot > provisional);
    if (isOpen && tell(await reconcile(deps, from > 0n ? from : 0n))) return true;
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

  /** A page of the whole history, for a gap that nothing has shown. */
  async function walk(): Promise<boolean> {
    const slot = await walkOn(deps, isWalkDue);
    isWalkDue = false;
    return slot !== null && takeBackTo(slot);
  }

  async function takeBackTo(slot: bigint): Promise<true> {
    log.warn({ slot: Number(slot) }, 'the node lists an older transaction that is not in the tables');
    await takeBack(db, slot - 1n);
    return true;
  }

  /** What was read from accounts after a block that the chain has dropped since is read again. */
  async function checkReadings(): Promise<void> {
    if (now() < readingsAt) return;
    const slot = await findDroppedReading(deps);
    if (slot !== null) {
      log.warn({ slot: Number(slot) }, 'accounts were read after a block that the chain has dropped: applied again');
      await takeBack(db, slot - 1n);
    }
    readingsAt = now() + (options.compareMs ?? COMPARE_MS);
  }

  /** A gap that lies further back than the last slots. */
  async function searchDeep(): Promise<boolean> {
    hasEvidence = false;
    if (now() < deepAt) return false;
    deepAt = now() + DEEP_MS;
    const slot = await findOldestGap(deps);
    return slot !== null && takeBackTo(slot);
  }

  /** A pass; where the node's list does not lead to the cursor, the tables go back to where they agree. */
  async function passJoined(): Promise<bigint> {
    try {
      return await pass(deps);
    } catch (error) {
      if (!(error instanceof NotJoined) || !tell(await rejoin(deps, error))) throw error;
      return pass(deps);
    }
  }

  return {
    hurry() {
      searchAt = 0;
      isWalkDue = true;
    },
    async look() {
      try {
        // First: later, what is applied may be too much to be taken back.
        await checkReadings();
        const head = await passJoined();
        return (await compare(head)) ? await passJoined() : head;
      } catch (error) {
        if (!(error instanceof RebuildNeeded)) throw error;
        log.warn({ reason: error.message }, 'the tables are built again');
        await options.rebuild();
        searchedTo = null;
        return passJoined();
      }
    },
  };
}
