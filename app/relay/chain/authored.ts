/**
 * What the relay authority's key has signed of late for executions, by whichever process: one list of its transactions, and
 * a reading of each that is not known. Anybody can name the authority as an account, so nothing is believed unread, and only
 * so many are read at once.
 */
import { readEvents } from '../../sdk/program/events.ts';
import { PROGRAM_ID } from '../../sdk/program/program.ts';
import { formatUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from './relayChain.ts';

/** As many as nodes give at once: at 30 a second that is all of half a minute, beyond that the latest of it. */
const LISTED = 1_000;
/** Of those that nobody knows; which ones is left to chance, so that no number of strangers' hides the others for long. */
const READ_AT_ONCE = 20;

/** A transaction that opened or ended an execution. */
export interface Authored {
  signature: string;
  executionId: string;
  /** Unix seconds of the chain's clock. */
  at: bigint;
}

export interface AuthoredReading {
  /** What the key has signed. */
  authored: Authored[];
  /** Whatever was read and is none of it. */
  others: string[];
}

/** Reads what landed since then, unix seconds, and is not known; what the node does not have yet comes with the next reading. */
export async function readAuthored(
  { connection, authority, listOfAuthority }: Pick<RelayChain, 'connection' | 'authority' | 'listOfAuthority'>,
  since: bigint,
  isKnown: (signature: string) => boolean,
): Promise<AuthoredReading> {
  const listed = await listOfAuthority(LISTED);
  const unknown = listed.filter(
    ({ signature, err, blockTime }) => err === null && blockTime && BigInt(blockTime) > since && !isKnown(signature),
  );
  const reading: AuthoredReading = { authored: [], others: [] };
  await Promise.all(
    someOf(unknown, READ_AT_ONCE).map(async ({ signature, blockTime }) => {
      const transaction = await connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      });
      if (!transaction) return;
      const { header, staticAccountKeys } = transaction.transaction.message;
      const signers = staticAccountKeys.slice(0, header.numRequiredSignatures);
      const executionId = signers.some((key) => key.equals(authority))
        ? executionIn(transaction.meta?.logMessages ?? [])
        : null;
      if (executionId === null) reading.others.push(signature);
      else reading.authored.push({ signature, executionId, at: BigInt(blockTime!) });
    }),
  );
  return reading;
}

/** The execution that a transaction opened or ended. */
function executionIn(logs: readonly string[]): string | null {
  for (const event of readEvents(logs, PROGRAM_ID).events) {
    if (event.name === 'ExecutionOpened' || event.name === 'ExecutionSettled' || event.name === 'ExecutionRefunded') {
      return formatUuid(event.data.executionId);
    }
  }
  return null;
}

/** So many of them, any. */
function someOf<Item>(items: readonly Item[], count: number): Item[] {
  const left = [...items];
  const some: Item[] = [];
  while (some.length < count && left.length > 0) {
    some.push(...left.splice(Math.floor(Math.random() * left.length), 1));
  }
  return some;
}
