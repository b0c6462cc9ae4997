/**
 * Transactions that the node listed only after later ones: a list from another backend may have a hole. They are
 * applied by the present state of their accounts (`applyLate`); nothing is undone for them.
 */
import type { Kysely } from 'kysely';
import { applyLate } from '../apply/apply.ts';
import { type IngestDeps, readCursor } from '../chain/ingest.ts';
import { type Cursor, readPages } from '../chain/listing.ts';
import { readLate } from '../chain/transactions.ts';
import type { IndexDatabase } from '../queries/tables.ts';

/** Slots before the end of the last search that each search repeats. */
export const RESCAN_SLOTS = 512n;

/** What a search found. */
interface Missed {
  /** Signatures of the transactions that it applied. */
  applied: string[];
  /** The oldest transaction that the node lists and does not have. Another search must include its slot. */
  unread: Listed | null;
}

type Listed = Pick<Cursor, 'signature' | 'slot'>;

/** Applies what the node lists from a slot up to the cursor and the tables lack. */
export async function applyMissed(deps: IngestDeps, fromSlot: bigint, head: bigint): Promise<Missed> {
  const missed: Missed = { applied: [], unread: null };
  for (const listed of (await findMissing({ ...deps, minSlot: head }, fromSlot)).reverse()) {
    const item = await readLate(deps, listed, head);
    if (!item) {
      missed.unread ??= listed;
      continue;
    }
    await applyLate(deps.db, item);
    if (item.content.kind === 'unreadable') deps.onUnreadable?.(listed.signature, item.content.reason);
    else missed.applied.push(listed.signature);
  }
  return missed;
}

/** What the node lists from this slot up to the cursor and the tables lack, newest first. */
async function findMissing(deps: IngestDeps, fromSlot: bigint): Promise<Listed[]> {
  const cursor = await readCursor(deps.db);
  const missing: Listed[] = [];
  if (!cursor) return missing;
  let isAfterCursor = true;
  for await (const page of readPages(deps)) {
    const [newest, oldest] = [BigInt(page[0]!.slot), BigInt(page.at(-1)!.slot)];
    const known = newest < fromSlot ? new Set() : await readKnown(deps.db, oldest, newest);
    for (const { signature, slot: number, err } of page) {
      const slot = BigInt(number);
      if (signature === cursor.signature) isAfterCursor = false;
      else if (err === null && slot >= fromSlot && (slot < cursor.slot || !isAfterCursor) && !known.has(signature)) {
        missing.push({ signature, slot });
      }
    }
    if (oldest < fromSlot) break;
  }
  return missing;
}

/** The tables' transactions of these slots, without failed ones. */
async function readKnown(db: Kysely<IndexDatabase>, from: bigint, to: bigint): Promise<Set<string>> {
  const of = (table: 'events' | 'eventless_transactions' | 'gaps') =>
    db
      .selectFrom(table as 'events')
      .select('signature')
      .where('slot', '>=', from)
      .where('slot', '<=', to);
  const rows = await of('events').union(of('eventless_transactions')).union(of('gaps')).execute();
  return new Set(rows.map(({ signature }) => signature));
}
