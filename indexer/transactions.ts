/** What listed transactions did: by the logs that were heard already, else by those that the node has, else by accounts. */
import type { Connection, PublicKey, VersionedTransactionResponse } from '@solana/web3.js';
import { chunks } from '../app/process/chunks.ts';
import { decodeEventInstruction, readEvents } from '../app/sdk/program/events.ts';
import { type AccountRows, readAccountRows } from './accounts.ts';
import { ApplyError } from './apply.ts';
import type { ChainTransaction } from './chainTransaction.ts';
import { readCarried } from './invocations.ts';
import type { Notices } from './notices.ts';

export interface ReadDeps {
  connection: Connection;
  programId: PublicKey;
  /** Logs that were heard already, so that they need not be fetched. */
  notices: Notices;
}

/** A transaction as a list names it. */
export interface Listed {
  signature: string;
  slot: bigint;
  hasFailed: boolean;
}

/** The node lists a transaction that it does not have, or not in that slot: it is late, or the chain has dropped it. */
export class Vanished extends Error {
  readonly slot: bigint;

  constructor({ signature, slot }: Pick<Listed, 'signature' | 'slot'>) {
    super(`the node lists ${signature} in slot ${slot} but does not have it there`);
    this.slot = slot;
  }
}

/** Fetched side by side. */
const FETCH_CONCURRENCY = 8;

/** What the given transactions did, in the same order. */
export async function readTransactions(
  deps: ReadDeps,
  listed: readonly Listed[],
  finalizedSlot: bigint,
): Promise<ChainTransaction[]> {
  const transactions: ChainTransaction[] = [];
  for (const side of chunks(listed, FETCH_CONCURRENCY)) {
    const read = side.map(
      async (item) => readHeard(deps, item, deps.notices.logsOf(item)) ?? readFetched(deps, item, finalizedSlot),
    );
    transactions.push(...(await Promise.all(read)));
  }
  return transactions;
}

/** What the logs of exactly this transaction in this slot say of it; null where there are none, or not all of them. */
export function readHeard(
  { programId }: Pick<ReadDeps, 'programId'>,
  { signature, slot, hasFailed }: Listed,
  heard: string[] | null | undefined,
): ChainTransaction | null {
  if (hasFailed) return { signature, slot, content: { kind: 'failed' } };
  const known = heard && readTrusted(signature, () => readEvents(heard, programId));
  return known?.complete ? { signature, slot, content: { kind: 'events', events: known.events } } : null;
}

/** What the node has of a transaction that has succeeded. */
export async function readFetched(
  deps: ReadDeps,
  { signature, slot }: Listed,
  finalizedSlot: bigint,
): Promise<ChainTransaction> {
  const position = { signature, slot };
  const transaction = await fetchTransaction(deps, position);
  const logs = transaction.meta?.logMessages;
  const calls = readCarried(transaction, deps.programId);
  const read = logs && readTrusted(signature, () => readEvents(logs, deps.programId, calls));
  if (read?.complete) return { ...position, content: { kind: 'events', events: read.events } };

  const snapshot = await readAccountsOf(deps, transaction, finalizedSlot, 'changed');
  const carried = readTrusted(signature, () => calls.flatMap((data) => decodeEventInstruction(data) ?? []));
  return { ...position, content: { kind: 'accounts', snapshot, carried } };
}

/** The accounts that a transaction names, whose events are about something which the node has left out. */
export async function readSnapshot(deps: ReadDeps, at: Pick<Listed, 'signature' | 'slot'>, finalizedSlot: bigint) {
  return readAccountsOf(deps, await fetchTransaction(deps, at), finalizedSlot, 'named');
}

/**
 * Of a transaction that is finalized, the accounts are read as they are finalized too: what is dropped later must not have
 * left a trace in rows that nobody takes back.
 */
function readAccountsOf(
  { connection, programId }: ReadDeps,
  transaction: VersionedTransactionResponse,
  finalizedSlot: bigint,
  which: 'changed' | 'named',
): Promise<AccountRows> {
  const commitment = BigInt(transaction.slot) <= finalizedSlot ? 'finalized' : 'confirmed';
  return readAccountRows({ connection, commitment }, programId, transaction, which);
}

async function fetchTransaction(
  { connection }: ReadDeps,
  at: Pick<Listed, 'signature' | 'slot'>,
): Promise<VersionedTransactionResponse> {
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
  const transaction = await connection.getTransaction(at.signature, options);
  if (!transaction || BigInt(transaction.slot) !== at.slot) throw new Vanished(at);
  return transaction;
}

/** Throws ApplyError where the events of a transaction cannot be understood. */
function readTrusted<T>(signature: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ApplyError(signature, error);
  }
}
