/**
 * Reads the node's list of the program's transactions, newest first. It also finds whether the list reaches the tables'
 * cursor, and where the node's history begins.
 */
import type { ConfirmedSignatureInfo, Connection, PublicKey } from '@solana/web3.js';

export interface ListingDeps {
  connection: Connection;
  programId: PublicKey;
  /** Signatures per request; nodes return at most 1,000. */
  signaturePage: number;
  /** A list must be of this slot or later: another backend of the node may lag behind. */
  minSlot?: bigint;
}

/** The last transaction applied. */
export interface Cursor {
  signature: string;
  slot: bigint;
}

/**
 * The node's list does not reach the last applied transaction. A node that lags behind reaches it soon. One on another
 * chain never does; then another node helps, or a rebuild if this node is right.
 */
export class NotJoined extends Error {
  constructor(cursor: Cursor) {
    super(`the node's list of transactions does not reach ${cursor.signature}, the last applied transaction`);
  }
}

/** The node does not know the `before` or `until` transaction of a request. */
export class SignatureUnknown extends Error {}

/** JSON-RPC's code. */
const METHOD_NOT_FOUND = -32601;
/**
 * Agave's code for a transaction that has not arrived, that is not on the node's chain, or that is older than its history.
 */
const SIGNATURE_NOT_FOUND = -32020;

const codeOf = (error: unknown) => (error as { code?: unknown }).code;

/**
 * The first slot of the node's history; 0 if it is complete. A node may forget slots between two requests. Ask this
 * after the list, to judge what the list lacks.
 */
export async function readFirstAvailable({ connection }: Pick<ListingDeps, 'connection'>): Promise<bigint> {
  try {
    return BigInt(await connection.getFirstAvailableBlock());
  } catch (error) {
    if (codeOf(error) === METHOD_NOT_FOUND) return 0n;
    throw error;
  }
}

/**
 * One batch of transactions older than `before` and newer than `until`. Throws SignatureUnknown if the node does not
 * know one of them.
 */
async function readPage(
  { connection, programId, signaturePage: limit, minSlot }: ListingDeps,
  { until, before }: { until?: string | undefined; before?: string | undefined },
): Promise<ConfirmedSignatureInfo[]> {
  const minContextSlot = minSlot === undefined ? {} : { minContextSlot: Number(minSlot) };
  const options = { limit, ...(until && { until }), ...(before && { before }), ...minContextSlot };
  const page = await connection.getSignaturesForAddress(programId, options, 'finalized').catch((error: Error) => {
    throw codeOf(error) === SIGNATURE_NOT_FOUND ? new SignatureUnknown(error.message, { cause: error }) : error;
  });
  const isOrdered = page.every(({ slot }, at) => at === 0 || slot <= page[at - 1]!.slot);
  if (!isOrdered) throw new Error('the node lists transactions out of order');
  return page;
}

/**
 * One batch of transactions newer than the cursor and older than `before`. If the node's history begins after the
 * cursor, everything it has is newer. Throws NotJoined if it does not reach the cursor.
 */
export async function readNewer(
  deps: ListingDeps,
  cursor: Cursor | undefined,
  before?: string,
): Promise<ConfirmedSignatureInfo[]> {
  try {
    const page = await readPage(deps, { until: cursor?.signature, before });
    requireNewer(page, cursor);
    return page;
  } catch (error) {
    if (!(error instanceof SignatureUnknown) || !cursor) throw error;
    if (await isForgotten(deps, cursor)) return readPage(deps, { before });
    throw before === undefined ? new NotJoined(cursor) : error;
  }
}

/** True if the transaction is older than the node's history. */
export async function isForgotten(deps: ListingDeps, { slot }: Pick<Cursor, 'slot'>): Promise<boolean> {
  return (await readFirstAvailable(deps)) > slot;
}

/** Batches, newest first. Some nodes return short batches anywhere, so only an empty batch is the end. */
export async function* readPages(deps: ListingDeps): AsyncGenerator<ConfirmedSignatureInfo[]> {
  for (let oldest: ConfirmedSignatureInfo | undefined; ; ) {
    const page = await readPage(deps, { before: oldest?.signature }).catch(async (error: Error) => {
      // The node has forgotten the last transaction of the previous batch, so it has nothing older either.
      const isEnd = error instanceof SignatureUnknown && oldest && isForgotten(deps, { slot: BigInt(oldest.slot) });
      if (await isEnd) return [];
      throw error;
    });
    if (page.length === 0) return;
    yield page;
    oldest = page.at(-1)!;
  }
}

/**
 * Throws NotJoined if a list that ends with `oldest` does not reach the cursor. Some nodes do not report an unknown
 * cursor: they list transactions older than it, or stop early.
 */
export async function requireJoin(deps: ListingDeps, oldest: { signature: string }, cursor: Cursor): Promise<void> {
  const [next] = await readPage({ ...deps, signaturePage: 1 }, { before: oldest.signature }).catch((error: Error) => {
    throw error instanceof SignatureUnknown ? new NotJoined(cursor) : error;
  });
  if (next?.signature !== cursor.signature) throw new NotJoined(cursor);
}

/** True if the node knows the transaction in that slot. */
export async function isOnChain({ connection }: ListingDeps, { signature, slot }: Cursor): Promise<boolean> {
  const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
  return value[0]?.slot === Number(slot);
}

/** Throws NotJoined if a batch contains transactions older than the cursor. */
function requireNewer(page: readonly ConfirmedSignatureInfo[], cursor: Cursor | undefined): void {
  if (cursor && page.some(({ slot }) => BigInt(slot) < cursor.slot)) throw new NotJoined(cursor);
}

/**
 * Some nodes list blocks that are not final yet, or still in progress, at any commitment. Moving the cursor into them
 * would lose transactions. Returns the final transactions, and the slot before the first other block.
 */
export function splitUnfinished(
  page: readonly ConfirmedSignatureInfo[],
  finalized: bigint,
): { finished: ConfirmedSignatureInfo[]; head: bigint } {
  const finished = page.filter(isFinal);
  const unfinished = page.filter((listed) => !isFinal(listed));
  const head = unfinished.reduce((least, { slot }) => (BigInt(slot) <= least ? BigInt(slot) - 1n : least), finalized);
  return { finished, head };
}

/** Some nodes give no status. */
export const isFinal = ({ confirmationStatus = 'finalized' }: ConfirmedSignatureInfo): boolean =>
  confirmationStatus === 'finalized';
