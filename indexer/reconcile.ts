/**
 * Compares the tables with the node's list. If the chain has dropped a transaction or moved it to another slot, it and
 * everything after it are undone. If the node had left one out, everything after it is undone. The next pass applies
 * what the chain has. A missing list entry alone undoes nothing: the node may lag behind, or may have forgotten its old
 * slots.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { chunks } from '../app/process/chunks.ts';
import { MAX_STATUSES } from '../app/solana/calls.ts';
import { rollbackTo } from './apply.ts';
import { end as endBackfill } from './backfill.ts';
import { type IngestDeps, readCursor, readFinalized } from './ingest.ts';
import { type Cursor, isForgotten, type NotJoined, readFirstAvailable, readPages } from './listing.ts';
import type { IndexDatabase } from './tables.ts';

/**
 * A transaction's accounts are read shortly after it and may show later changes. If something is dropped, this many
 * slots before it are undone too. Finality takes fewer slots.
 */
const FORK_SLOTS = 128n;
/** The node may forget this many slots while undone transactions are applied again. */
const CUT_SLOTS = 64n;
/** Most slots before the end of the last search that each search repeats. Fewer than can be undone (UNDO_SLOTS). */
export const RESCAN_SLOTS = 512n;

/** The tables differ from the chain further back than they can be undone, so they must be rebuilt. */
export class RebuildNeeded extends Error {}

export interface Difference {
  /** Transactions up to the cursor that the node lists and the tables do not have. */
  missing: string[];
  /** Transactions of the tables that the chain does not have, or has in another slot. */
  vanished: string[];
  /** The last slot that was kept. */
  keptSlot: bigint;
}

/**
 * Compares everything from a slot up to the cursor, and undoes everything from the first difference on. Null if there
 * is none. Throws RebuildNeeded if the tables cannot be undone so far.
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
  const { vanished, first } = await confirmVanished(deps, absent, listed);
  if (missing.length === 0 && vanished.length === 0) return null;
  const slots = [
    ...missing.map(({ slot }) => BigInt(slot) - 1n),
    ...vanished.map(({ slot }) => keptBefore(slot, first)),
  ];
  const keptSlot = slots.sort((one, other) => (one < other ? -1 : 1))[0]!;
  await takeBack(deps.db, keptSlot);
  const names = (items: readonly { signature: string }[]) => items.map(({ signature }) => signature);
  return { missing: names(missing).reverse(), vanished: names(vanished), keptSlot };
}

/** The last slot to keep if this one has vanished. Not before the slots that the node can still return. */
function keptBefore(slot: bigint, first: bigint): bigint {
  const [last, wanted, least] = [slot - 1n, slot - 1n - FORK_SLOTS, first > 0n ? first + CUT_SLOTS : 0n];
  if (wanted >= least) return wanted;
  return last < least ? last : least;
}

/** Rolls the tables back to a slot, and ends a backfill. */
export async function takeBack(db: Kysely<IndexDatabase>, slot: bigint): Promise<void> {
  // Before the rollback: a list made from a later cursor would lack what must be applied again.
  await endBackfill(db);
  try {
    await rollbackTo(db, slot < 0n ? 0n : slot);
  } catch (error) {
    if (error instanceof RangeError) throw new RebuildNeeded(error.message, { cause: error });
    throw error;
  }
}

/**
 * Handles a node's list that does not reach the cursor. If the chain has dropped the cursor, rolls the tables back to
 * where they agree. If the node lags behind, only waiting helps.
 */
export async function rejoin(deps: IngestDeps, error: NotJoined): Promise<Difference | null> {
  const cursor = await readCursor(deps.db);
  if (!cursor) return null;
  // The node has forgotten the cursor meanwhile; the next pass continues without it.
  if (await isForgotten(deps, cursor)) throw error;
  const trusted = (await readFinalizedProgress(deps.db)) ?? 0n;
  return reconcile(deps, trusted < cursor.slot ? trusted : cursor.slot);
}

/** The slot up to which the tables were compared with the final chain; null before the first time. */
export async function readFinalizedProgress(db: Kysely<IndexDatabase>): Promise<bigint | null> {
  return (await db.selectFrom('progress').select('finalized_slot').executeTakeFirst())?.finalized_slot ?? null;
}

/** The node's list from this slot on, newest first. */
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

/** The tables' transactions with their slots, without failed ones. */
export async function readKnown(db: Kysely<IndexDatabase>, where: RawBuilder<boolean>): Promise<Map<string, bigint>> {
  const events = db.selectFrom('events').select(['signature', 'slot']).where(where);
  const others = db.selectFrom('eventless_transactions').select(['signature', 'slot']).where(where);
  const gaps = db.selectFrom('gaps').select(['signature', 'slot']).where(where);
  const rows = await events.union(others).union(gaps).execute();
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
  // A cursor that is a failed transaction is in no other table.
  if (cursor.slot >= fromSlot) applied.set(cursor.signature, cursor.slot);
  return [...applied].flatMap(([signature, slot]) => (slots.get(signature) === slot ? [] : [{ signature, slot }]));
}

/**
 * Transactions that the node lists in another slot, or that it does not know although it is past their slots. Also the
 * first slot of its history; it knows nothing older.
 */
async function confirmVanished(
  deps: IngestDeps,
  missed: readonly Cursor[],
  listed: readonly ConfirmedSignatureInfo[],
): Promise<{ vanished: Cursor[]; first: bigint }> {
  if (missed.length === 0) return { vanished: [], first: 0n };
  const begun = await readFirstAvailable(deps);
  const absent = missed.filter(({ slot }) => slot >= begun);
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
  if (vanished.length === 0) return { vanished, first: begun };
  // The node may have forgotten more slots since the list.
  const first = await readFirstAvailable(deps);
  return { vanished: vanished.filter(({ slot }) => slot >= first), first };
}
