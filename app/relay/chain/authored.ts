/**
 * Finds recent transactions of executions that the relay authority signed, in any process. It lists the authority's
 * transactions and reads the unknown ones. Anybody can name the authority as an account, so only a transaction that was
 * read counts, and each run reads only some.
 */
import type { PublicKey } from '@solana/web3.js';
import { readEvents } from '../../sdk/program/events.ts';
import { PROGRAM_ID } from '../../sdk/program/program.ts';
import { type ReceivedTransaction, receiveTransaction, UnreadableTransaction } from '../../sdk/program/transaction.ts';
import { formatUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from './relayChain.ts';

/** The most that nodes return at once, the latest first: half a minute at 30 transactions a second. */
const LISTED = 1_000;
/**
 * Reads of one run. They are chosen at random, so that no number of strangers' transactions hides the others for long.
 */
const READ_AT_ONCE = 20;

/** A transaction that opened or ended an execution, or one of several in it. */
export interface Authored {
  signature: string;
  executionId: string;
  /** Unix seconds on the chain's clock. */
  at: bigint;
}

export interface AuthoredReading {
  /** Those that the key signed, one for each execution in them. */
  authored: Authored[];
  /** All other transactions that were read. */
  others: string[];
  /** Unknown transactions that were not read. */
  unread: number;
}

/**
 * Reads unknown transactions that landed after `since`, unix seconds. A transaction that the node lacks is read in a
 * later run.
 */
export async function readAuthored(
  { connection, authority, listOfAuthority }: Pick<RelayChain, 'connection' | 'authority' | 'listOfAuthority'>,
  since: bigint,
  isKnown: (signature: string) => boolean,
): Promise<AuthoredReading> {
  const listed = await listOfAuthority(LISTED);
  const unknown = listed.filter(
    ({ signature, err, blockTime }) => err === null && blockTime && BigInt(blockTime) > since && !isKnown(signature),
  );
  const reading: AuthoredReading = { authored: [], others: [], unread: unknown.length };
  await Promise.all(
    someOf(unknown, READ_AT_ONCE).map(async ({ signature, blockTime }) => {
      const received = await receiveTransaction(connection, signature);
      if (!received) return;
      const executions = isSignedBy(received, authority) ? executionsIn(received.logs ?? []) : [];
      const at = BigInt(blockTime!);
      for (const executionId of executions) reading.authored.push({ signature, executionId, at });
      if (executions.length === 0) reading.others.push(signature);
      reading.unread -= 1;
    }),
  );
  return reading;
}

/** No relay signs a transaction of a version that it cannot read. */
function isSignedBy(received: ReceivedTransaction, authority: PublicKey): boolean {
  try {
    const { header, staticAccountKeys } = received.decode().transaction.message;
    return staticAccountKeys.slice(0, header.numRequiredSignatures).some((key) => key.equals(authority));
  } catch (error) {
    if (error instanceof UnreadableTransaction) return false;
    throw error;
  }
}

/** The executions that the transaction opened or ended. */
function executionsIn(logs: readonly string[]): string[] {
  return readEvents(logs, PROGRAM_ID).events.flatMap((event) =>
    event.name === 'ExecutionOpened' || event.name === 'ExecutionSettled' || event.name === 'ExecutionRefunded'
      ? [formatUuid(event.data.executionId)]
      : [],
  );
}

/** Chooses `count` of them at random. */
function someOf<Item>(items: readonly Item[], count: number): Item[] {
  const left = [...items];
  const some: Item[] = [];
  while (some.length < count && left.length > 0) {
    some.push(...left.splice(Math.floor(Math.random() * left.length), 1));
  }
  return some;
}
