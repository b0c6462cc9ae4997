/**
 * Compares what is in the tables with what the node lists: a transaction that the chain has dropped, or has put into another
 * slot, is taken back with all that came after it; and so is everything after one that the node had left out. The next pass
 * then applies what the chain has. Nothing is taken back on a node's silence alone, which may only lag behind.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { chunks } from '../app/process/chunks.ts';
import { MAX_STATUSES } from '../app/solana/calls.ts';
import { rollbackTo } from './apply.ts';
import { end as endBackfill } from './backfill.ts';
import { type IngestDeps, readCursor, readFinalized } from './ingest.ts';
import { type Cursor, type NotJoined, readPages } from './listing.ts';
import type { IndexDatabase } from './tables.ts';

/**
 * A transaction's accounts are read a moment after it, and may show what came in that moment. Where something is dropped, so
 * many slots before it go too: more than finality takes.
 */
const FORK_SLOTS = 128n;
/** Slots before the last search's end that each looks through too, at most; less than can be taken back (UNDO_SLOTS). */
export const RESCAN_SLOTS = 512n;

/** The tables differ from the chain further back than they can be taken back: they are to be built again. */
export class RebuildNeeded extends Error {}

export interface Difference {
  /** Transactions up to the cursor that the node lists and the tables do not have. */
  missing: string[];
  /** Transactions of the tables that the chain does not have, or not in that slot. */
  vanished: string[];
  /** The last slot that was kept. */
  keptSlot: bigint;
}

/**
 * Compares everything from a slot up to the cursor, and takes the tables back to before the first difference. Null where there
 * is none. Throws RebuildNeeded where they cannot be taken back so far.
 */
export async function reconcile(deps: IngestDeps, fromSlot: bigint): Promise<Difference | null> {
  const cursor = await readCursor(deps.db);
  if (!cursor) return null;
  const listed = await readListed(deps, fromSlot);
  const known = await readKnown(deps.db, sql<boolean>`slot >= ${fromSlot}`);
  const at = listed.findIndex(({ signature }) => signature === cursor.signature);
  const missing = listed.filter(
    ({ signature, slot, err }, index) =>
      err === null &&
      known.get(signature) !== BigInt(slot) &&
      (at < 0 ? BigInt(slot) < cursor.slot : index >= at && signature !== cursor.signature),
  );
  const absent = findAbsent(listed, known, cursor, fromSlot);
  const vanished = await confirmVanished(deps, absent, listed);
  if (missing.length === 0 && vanished.length === 0) return null;
  const slots = [
    ...missing.map(({ slot }) => BigInt(slot) - 1n),
    ...vanished.map(({ slot }) => slot - 1n - FORK_SLOTS),
  ];
  const keptSlot = slots.sort((one, other) => (one < other ? -1 : 1))[0]!;
  await takeBack(deps.db, keptSlot);
  const names = (items: readonly { signature: string }[]) => items.map(({ signature }) => signature);
  return { missing: names(missing).reverse(), vanished: names(vanished), keptSlot };
}

/** Takes the tables back to a slot, with what a backfill still had to do. */
export async function takeBack(db: Kysely<IndexDatabase>, slot: bigint): Promise<void> {
  // First: a list that was made from a later cursor would leave out what is to be applied again.
  await endBackfill(db);
  try {
    await rollbackTo(db, slot < 0n ? 0n : slot);
  } catch (error) {
    if (error instanceof RangeError) throw new RebuildNeeded(error.message, { cause: error });
    throw error;
  }
}

/**
 * The node's list does not lead to the cursor: finds out why. Where the chain has dropped it, the tables are taken back to
 * where they agree; where the node does not reach so far back, or lags behind, nothing can be done but to wait.
 */
export async function rejoin(deps: IngestDeps, error: NotJoined): Promise<Difference | null> {
  const cursor = await readCursor(deps.db);
  if (!cursor) return null;
  const first = await deps.connection.getFirstAvailableBlock();
  if (BigInt(first) > cursor.slot) {
    throw new Error(`${error.message}: the node's history begins later, at slot ${first}`, { cause: error });
  }
  const trusted = (await readFinalizedProgress(deps.db)) ?? 0n;
  return reconcile(deps, trusted < cursor.slot ? trusted : cursor.slot);
}

/** Up to where the tables were compared with what is finalized; null before the first time. */
export async function readFinalizedProgress(db: Kysely<IndexDatabase>): Promise<bigint | null> {
  return (await db.selectFrom('progress').select('finalized_slot').executeTakeFirst())?.finalized_slot ?? null;
}

/** What the node lists from the slot on, newest first. */
async function readListed(deps: IngestDeps, fromSlot: bigint): Promise<ConfirmedSignatureInfo[]> {
  const listed: ConfirmedSignatureInfo[] = [];
  for await (const page of readPages(deps)) {
    listed.push(...page);
    if (BigInt(page.at(-1)!.slot) < fromSlot) break;
  }
  return listed.filter(
    ({ slot, confirmationStatus }) => BigInt(slot) >= fromSlot && confirmationStatus !== 'processed',
  );
}

/** Transactions of the tables by their slot, those that failed not among them. */
export async function readKnown(db: Kysely<IndexDatabase>, where: RawBuilder<boolean>): Promise<Map<string, bigint>> {
  const events = db.selectFrom('events').select(['signature', 'slot']).where(where);
  const others = db.selectFrom('eventless_transactions').select(['signature', 'slot']).where(where);
  const rows = await events.union(others).execute();
  return new Map(rows.map(({ signature, slot }) => [signature, slot]));
}

function findAbsent(
  listed: readonly ConfirmedSignatureInfo[],
  known: ReadonlyMap<string, bigint>,
  cursor: Cursor,
  fromSlot: bigint,
): Cursor[] {
  const slots = new Map(listed.map(({ signature, slot }) => [signature, BigInt(slot)]));
  const applied = new Map(known);
  // A cursor that failed is in no other table.
  if (cursor.slot >= fromSlot) applied.set(cursor.signature, cursor.slot);
  return [...applied].flatMap(([signature, slot]) => (slots.get(signature) === slot ? [] : [{ signature, slot }]));
}

/** Those that the node lists in another slot, or, being past their slots, does not know by their names either. */
async function confirmVanished(
  deps: IngestDeps,
  absent: readonly Cursor[],
  listed: readonly ConfirmedSignatureInfo[],
): Promise<Cursor[]> {
  if (absent.length === 0) return [];
  const finalized = await readFinalized(deps);
  const reached = listed.reduce((most, { slot }) => (BigInt(slot) > most ? BigInt(slot) : most), finalized);
  const names = new Set(listed.map(({ signature }) => signature));
  const isMoved = ({ signature }: Cursor) => names.has(signature);
  const passed = absent.filter((item) => item.slot <= reached && !isMoved(item));
  const vanished: Cursor[] = absent.filter(isMoved);
  for (const some of chunks(passed, MAX_STATUSES)) {
    const signatures = some.map(({ signature }) => signature);
    const { value } = await deps.connection.getSignatureStatuses(signatures, { searchTransactionHistory: true });
    vanished.push(...some.filter(({ slot }, index) => !value[index] || BigInt(value[index].slot) !== slot));
  }
  return vanished;
}
