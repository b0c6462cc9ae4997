/**
 * Transactions that the node listed only after later ones: a list from another backend may have a hole. They are
 * applied by the present state of their accounts (`applyLate`); nothing is undone for them.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { applyLate } from './apply.ts';
import { type IngestDeps, readCursor } from './ingest.ts';
import { type ListingDeps, readPages } from './listing.ts';
import type { IndexDatabase } from './tables.ts';
import { readLate } from './transactions.ts';

/** Slots before the end of the last search that each search repeats. */
export const RESCAN_SLOTS = 512n;

/**
 * Applies what the node lists from a slot up to the cursor and the tables lack. Returns the applied signatures. A transaction
 * that the node lists and does not have stays for the next search.
 */
export async function applyMissed(deps: IngestDeps, fromSlot: bigint, head: bigint): Promise<string[]> {
  const { db } = deps;
  const cursor = await readCursor(db);
  if (!cursor) return [];
  const listed = await readListed({ ...deps, minSlot: head }, fromSlot);
  const known = await readKnown(db, fromSlot);
  const at = listed.findIndex(({ signature }) => signature === cursor.signature);
  const missing = listed.filter(
    ({ signature, slot, err }, index) =>
      err === null &&
      !known.has(signature) &&
      (at < 0 ? BigInt(slot) < cursor.slot : index >= at && signature !== cursor.signature),
  );
  const applied: string[] = [];
  for (const { signature, slot } of missing.reverse()) {
    const item = await readLate(deps, { signature, slot: BigInt(slot) }, head);
    if (!item) continue;
    await applyLate(db, item);
    if (item.content.kind === 'unreadable') deps.onUnreadable?.(signature, item.content.reason);
    else applied.push(signature);
  }
  return applied;
}

/** The node's list from this slot on, newest first. */
async function readListed(deps: ListingDeps, fromSlot: bigint): Promise<ConfirmedSignatureInfo[]> {
  const listed: ConfirmedSignatureInfo[] = [];
  for await (const page of readPages(deps)) {
    listed.push(...page);
    if (BigInt(page.at(-1)!.slot) < fromSlot) break;
  }
  return listed.filter(({ slot }) => BigInt(slot) >= fromSlot);
}

/** The tables' transactions from this slot on, without failed ones. */
async function readKnown(db: Kysely<IndexDatabase>, fromSlot: bigint): Promise<Set<string>> {
  const of = (table: 'events' | 'eventless_transactions' | 'gaps') =>
    db
      .selectFrom(table as 'events')
      .select('signature')
      .where('slot', '>=', fromSlot);
  const rows = await of('events').union(of('eventless_transactions')).union(of('gaps')).execute();
  return new Set(rows.map(({ signature }) => signature));
}
