/**
 * Reads the content of listed transactions: from logs already received, else from the node's logs, else from accounts.
 */
import type { Connection, PublicKey, VersionedTransactionResponse } from '@solana/web3.js';
import { chunks } from '../../app/process/chunks.ts';
import { decodeEventInstruction, readEvents } from '../../app/sdk/program/events.ts';
import { findArchive } from '../../app/sdk/program/program.ts';
import {
  type ReceivedTransaction,
  receiveTransaction,
  UnreadableTransaction,
} from '../../app/sdk/program/transaction.ts';
import { ApplyError } from '../apply/apply.ts';
import type { ChainTransaction, LateTransaction } from '../apply/chainTransaction.ts';
import type { AccountRows } from '../apply/readings.ts';
import type { ArchiveRow } from '../queries/tables.ts';
import { readAccountRows, readPresentRows } from './accounts.ts';
import { type ProgramInstruction, readCarried, readInstructions } from './invocations.ts';
import type { Notices } from './notices.ts';

export interface ReadDeps {
  connection: Connection;
  programId: PublicKey;
  /** Logs already received, which need not be fetched. */
  notices: Notices;
}

/** A transaction as a list names it. */
export interface Listed {
  signature: string;
  slot: bigint;
  hasFailed: boolean;
  /** The logs, if they came with the list. */
  logs?: string[] | null;
}

/** The node lists a transaction that it does not have: it is late. Another one may have it. */
export class Vanished extends Error {
  readonly slot: bigint;

  constructor({ signature, slot }: Pick<Listed, 'signature' | 'slot'>) {
    super(`the node lists ${signature} in slot ${slot} but does not have it there`);
    this.slot = slot;
  }
}

/** Transactions fetched in parallel. */
const FETCH_CONCURRENCY = 8;
/** One archive has room for a million executions. */
const ARCHIVES_AT_ONCE = 4;

/**
 * The content of the given transactions, in the same order. If one cannot be read, returns those before it and the
 * error.
 */
export async function readTransactions(
  deps: ReadDeps,
  listed: readonly Listed[],
): Promise<{ read: ChainTransaction[]; failure: unknown }> {
  const read: ChainTransaction[] = [];
  for (const side of chunks(listed, FETCH_CONCURRENCY)) {
    const answers = await Promise.allSettled(
      side.map(
        async (item) => readHeard(deps, item, item.logs ?? deps.notices.logsOf(item)) ?? readFetched(deps, item),
      ),
    );
    for (const answer of answers) {
      if (answer.status === 'rejected') return { read, failure: answer.reason };
      read.push(answer.value);
    }
  }
  return { read, failure: null };
}

/** The content from received logs; null if they are absent or incomplete. */
function readHeard(
  { programId }: Pick<ReadDeps, 'programId'>,
  { signature, slot, hasFailed }: Listed,
  heard: string[] | null | undefined,
): ChainTransaction | null {
  if (hasFailed) return { signature, slot, content: { kind: 'failed' } };
  const known = heard && readTrusted(signature, () => readEvents(heard, programId));
  return known?.complete ? { signature, slot, content: { kind: 'events', events: known.events } } : null;
}

/** The content of a succeeded transaction as fetched from the node. */
async function readFetched(deps: ReadDeps, { signature, slot }: Listed): Promise<ChainTransaction> {
  const position = { signature, slot };
  const received = await fetchTransaction(deps, position);
  const transaction = tryDecode(received);
  if (transaction instanceof UnreadableTransaction) {
    // Its log alone can be complete.
    const heard = readHeard(deps, { ...position, hasFailed: false }, received.logs);
    return heard ?? { ...position, content: await gapOf(deps, transaction, slot) };
  }
  const instructions = readInstructions(transaction, deps.programId);
  const content = contentOf(transaction, signature, deps.programId, instructions);
  if (content.kind === 'events') return { ...position, content };
  const snapshot = await readAccountRows(deps, deps.programId, transaction, instructions, 'changed');
  return { ...position, content: { ...content, snapshot } };
}

/** The events of a complete log. Without one, those that the program carried in calls to itself. */
function contentOf(
  transaction: VersionedTransactionResponse,
  signature: string,
  programId: PublicKey,
  instructions: readonly ProgramInstruction[],
) {
  const logs = transaction.meta?.logMessages;
  const calls = readCarried(instructions);
  const read = logs && readTrusted(signature, () => readEvents(logs, programId, calls));
  if (read?.complete) return { kind: 'events', events: read.events } as const;
  const carried = readTrusted(signature, () => calls.flatMap((data) => decodeEventInstruction(data) ?? []));
  return { kind: 'accounts', carried } as const;
}

/**
 * Reads all accounts that a transaction names, because its events depend on a transaction that the node left out.
 * Throws UnreadableTransaction.
 */
export async function readSnapshot(deps: ReadDeps, at: Pick<Listed, 'signature' | 'slot'>): Promise<AccountRows> {
  const transaction = (await fetchTransaction(deps, at)).decode();
  const instructions = readInstructions(transaction, deps.programId);
  return readAccountRows(deps, deps.programId, transaction, instructions, 'named');
}

/**
 * A transaction to be applied after later ones, with all accounts that it names in their state at `minSlot` or later.
 * Null if the node does not have it.
 */
export async function readLate(
  { connection, programId }: ReadDeps,
  { signature, slot }: Pick<Listed, 'signature' | 'slot'>,
  minSlot: bigint,
): Promise<LateTransaction | null> {
  const received = await receiveTransaction(connection, signature);
  if (!received) return null;
  const transaction = tryDecode(received);
  if (transaction instanceof UnreadableTransaction) {
    return { signature, slot, content: await gapOf({ connection, programId }, transaction, minSlot) };
  }
  const instructions = readInstructions(transaction, programId);
  const snapshot = await readAccountRows({ connection, minSlot }, programId, transaction, instructions, 'named');
  return { signature, slot, content: { ...contentOf(transaction, signature, programId, instructions), snapshot } };
}

/**
 * The content of a transaction that cannot be read, with all archives in their state at this slot or later: its own, or
 * a later one.
 */
export async function gapOf(
  { connection, programId }: Pick<ReadDeps, 'connection' | 'programId'>,
  { message }: UnreadableTransaction,
  slot: bigint,
) {
  const archives: ArchiveRow[] = [];
  // There may be more if the last request found all.
  for (let first = 0; first === archives.length; first += ARCHIVES_AT_ONCE) {
    const addresses = Array.from({ length: ARCHIVES_AT_ONCE }, (_, at) => findArchive(first + at).toBase58());
    archives.push(...(await readPresentRows({ connection }, programId, addresses, slot)).archives);
  }
  return { kind: 'unreadable', reason: message, archives } as const;
}

async function fetchTransaction(
  { connection }: ReadDeps,
  at: Pick<Listed, 'signature' | 'slot'>,
): Promise<ReceivedTransaction> {
  const received = await receiveTransaction(connection, at.signature);
  if (!received || (received.slot !== null && BigInt(received.slot) !== at.slot)) throw new Vanished(at);
  return received;
}

function tryDecode(received: ReceivedTransaction): VersionedTransactionResponse | UnreadableTransaction {
  try {
    return received.decode();
  } catch (error) {
    if (error instanceof UnreadableTransaction) return error;
    throw error;
  }
}

/** Throws ApplyError if the events of a transaction cannot be decoded. */
function readTrusted<T>(signature: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ApplyError(signature, error);
  }
}
