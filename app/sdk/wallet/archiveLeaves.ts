/**
 * The leaves of archives as the chain's transactions have them: archiving, and moving an unclaimed refund, write the
 * fields of each leaf into a call of the program to itself.
 */
import { type Connection, PublicKey, type VersionedTransactionResponse } from '@solana/web3.js';
import { archiveLeaf, encodeArchived, encodeUnclaimed, unclaimedLeaf, unclaimedOf } from '../program/archive.ts';
import { decodeEventInstruction } from '../program/events.ts';
import { PROGRAM_ID } from '../program/program.ts';
import { innerDataOf, readTransaction, UnreadableTransaction } from '../program/transaction.ts';
import type { ArchiveLine } from '../wire/wire.ts';
import { readArchivedFields, readUnclaimedFields } from './archive.ts';
import type { Progress } from './format.ts';
import { Refusal } from './refusal.ts';

/** Parallel requests for transactions. A public node still answers this many. */
export const AT_ONCE = 8;
const SIGNATURES_AT_ONCE = 1_000;
/** Requests that are made until the node answers one. */
const ATTEMPTS = 3;

/** A leaf as its transaction has it. */
export interface FoundLeaf {
  archive: PublicKey;
  tree: PublicKey;
  line: ArchiveLine;
  signature: string;
}

/** The leaf of a published line. */
export function leafOfLine(line: ArchiveLine): Uint8Array {
  if ('unclaimed' in line) return unclaimedLeaf(readUnclaimedFields(line.unclaimed));
  return archiveLeaf(new PublicKey(line.record), readArchivedFields(line.fields));
}

/** Signatures of the transactions that name an address and succeeded, the newest first. */
export async function* signaturePages(
  connection: Connection,
  address: PublicKey,
  { before, until }: { before?: string; until?: string } = {},
): AsyncGenerator<string[]> {
  for (let last = before; ; ) {
    const range = { limit: SIGNATURES_AT_ONCE, ...(last && { before: last }), ...(until && { until }) };
    const page = await patiently(() => connection.getSignaturesForAddress(address, range));
    yield page.filter(({ err }) => err === null).map(({ signature }) => signature);
    last = page.at(-1)?.signature;
    if (page.length < SIGNATURES_AT_ONCE) return;
  }
}

/** How transactions are read. */
export interface Reading {
  onProgress: Progress | undefined;
  /** A transaction that the node lacks is skipped; else it is a Refusal. */
  skipMissing?: boolean;
}

/** The leaves that these transactions added. */
export async function leavesIn(connection: Connection, signatures: string[], reading: Reading): Promise<FoundLeaf[]> {
  const found = await Promise.all(signatures.map((signature) => tryTransaction(connection, signature, reading)));
  return found.flatMap((transaction) => (transaction ? leavesOf(transaction) : []));
}

export const linesOf = (found: FoundLeaf[], tree: PublicKey): ArchiveLine[] =>
  found.filter((leaf) => leaf.tree.equals(tree)).map(({ line }) => line);

/** Asks again if the node does not answer: one of a hundred requests may get no answer in time. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS; ; left -= 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Refusal) || left === 1) throw error;
    }
  }
}

/** Null if it cannot be read. Anyone can name the tree in any transaction; a missing leaf is noticed. */
async function tryTransaction(
  connection: Connection,
  signature: string,
  { onProgress, skipMissing }: Reading,
): Promise<VersionedTransactionResponse | null> {
  try {
    const transaction = await patiently(() => readTransaction(connection, signature));
    if (transaction?.meta) return transaction;
  } catch (error) {
    if (!(error instanceof UnreadableTransaction)) throw error;
    onProgress?.(`Skipped: ${error.message}.`);
    return null;
  }
  const lacks = `the node does not have the transaction ${signature}`;
  if (!skipMissing) throw new Refusal(`T${lacks.slice(1)}. Try a node with a longer history.`);
  onProgress?.(`Skipped: ${lacks}.`);
  return null;
}

/**
 * The leaves that a transaction added, from the program's calls to itself. Anyone can name a tree in a transaction that
 * adds none.
 */
function leavesOf(transaction: VersionedTransactionResponse): FoundLeaf[] {
  const [signature = ''] = transaction.transaction.signatures;
  return innerDataOf(transaction, PROGRAM_ID).flatMap((data): FoundLeaf[] => {
    const event = decodeEventInstruction(data);
    const unclaimed = event && unclaimedOf(event);
    if (unclaimed) {
      const { archive, tree, leafIndex } = unclaimed.leaf;
      const line = { leaf_index: leafIndex, unclaimed: toBase64(encodeUnclaimed(unclaimed.refund)) };
      return [{ archive, tree, line, signature }];
    }
    if (event?.name !== 'ExecutionsArchived') return [];
    const { archive, tree, firstIndex, executions } = event.data;
    return executions.map(({ record, execution }, at) => {
      const fields = toBase64(encodeArchived(execution));
      return { archive, tree, line: { leaf_index: firstIndex + at, record: record.toBase58(), fields }, signature };
    });
  });
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
