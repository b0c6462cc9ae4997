/** What the node lists of the program's transactions, newest first as nodes give them, and where that joins the tables. */
import type { ConfirmedSignatureInfo, Connection, PublicKey } from '@solana/web3.js';

export interface ListingDeps {
  connection: Connection;
  programId: PublicKey;
  /** Signatures per request; the most that nodes give is 1,000. */
  signaturePage: number;
}

/** The last transaction applied. */
export interface Cursor {
  signature: string;
  slot: bigint;
}

/**
 * The node's list does not lead to the last transaction applied: the chain has dropped it, or the node lags behind, or its
 * history is shorter.
 */
export class NotJoined extends Error {
  constructor(cursor: Cursor) {
    super(`the node's history does not join on to ${cursor.signature}, the last transaction applied`);
  }
}

/** One page of what is older than `before` and newer than `until`. */
export async function readPage(
  { connection, programId, signaturePage: limit }: ListingDeps,
  { until, before }: { until?: string | undefined; before?: string | undefined },
): Promise<ConfirmedSignatureInfo[]> {
  const options = { limit, ...(until && { until }), ...(before && { before }) };
  const page = await connection.getSignaturesForAddress(programId, options, 'confirmed');
  const isOrdered = page.every(({ slot }, at) => at === 0 || slot <= page[at - 1]!.slot);
  if (!isOrdered) throw new Error('the node lists transactions out of order');
  return page;
}

/** Pages from the newest on. A short page is not the end, which some nodes break off anywhere: an empty one is. */
export async function* readPages(deps: ListingDeps): AsyncGenerator<ConfirmedSignatureInfo[]> {
  for (let before: string | undefined; ; ) {
    const page = await readPage(deps, { before });
    if (page.length === 0) return;
    yield page;
    before = page.at(-1)!.signature;
  }
}

/**
 * A node that does not know the cursor does not say so: it gives transactions from before the cursor, or stops early. Throws
 * NotJoined where a list that ends with `oldest` does not lead to the cursor.
 */
export async function requireJoin(deps: ListingDeps, oldest: { signature: string }, cursor: Cursor): Promise<void> {
  const options = { limit: 1, before: oldest.signature };
  const [next] = await deps.connection.getSignaturesForAddress(deps.programId, options, 'confirmed');
  if (next?.signature !== cursor.signature) throw new NotJoined(cursor);
}

/** Whether the node knows the transaction in that slot. */
export async function isOnChain({ connection }: ListingDeps, { signature, slot }: Cursor): Promise<boolean> {
  const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
  return value[0]?.slot === Number(slot);
}

/** Throws NotJoined where a page reaches behind the cursor. */
export function requireNewer(page: readonly ConfirmedSignatureInfo[], cursor: Cursor | undefined): void {
  if (cursor && page.some(({ slot }) => BigInt(slot) < cursor.slot)) throw new NotJoined(cursor);
}

/**
 * Some nodes list a block that they still work on, in no order yet: moving the cursor there would lose transactions. Returns
 * the finished ones, and the slot before the unfinished.
 */
export function splitUnfinished(
  page: readonly ConfirmedSignatureInfo[],
  confirmed: bigint,
): { finished: ConfirmedSignatureInfo[]; head: bigint } {
  const finished = page.filter(({ confirmationStatus }) => confirmationStatus !== 'processed');
  const unfinished = page.filter(({ confirmationStatus }) => confirmationStatus === 'processed');
  const head = unfinished.reduce((least, { slot }) => (BigInt(slot) <= least ? BigInt(slot) - 1n : least), confirmed);
  return { finished, head };
}
