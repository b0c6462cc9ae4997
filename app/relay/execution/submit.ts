/** Sends the stored transactions of a row, and looks up which of them landed. */
import type { Fate } from '../chain/confirmations.ts';
import type { JournalRow } from '../ledger/tables.ts';
import type { StoredTransaction } from '../ledger/transactions.ts';
import type { EngineDeps } from './step.ts';

/**
 * Creates the function that sends a stored transaction and waits for its outcome. A failure is noted at once: the chain
 * shows it for sure. That a transaction landed or expired is noted when the effect, or its absence, is read.
 */
export function createSubmit({ chain, journal }: Pick<EngineDeps, 'chain' | 'journal'>, stopping: AbortSignal) {
  return async (row: JournalRow, signed: StoredTransaction, hasHappened: () => Promise<boolean>): Promise<Fate> => {
    const fate = await chain.submit(signed, hasHappened, stopping);
    if (fate.kind === 'failed') await journal.decided(row, signed, 'failed');
    return fate;
  };
}

/** True if one of these transactions has landed and succeeded. */
export async function hasLanded(
  chain: Pick<EngineDeps['chain'], 'hasSucceeded'>,
  signatures: readonly string[],
): Promise<boolean> {
  const landed = await Promise.all(signatures.map((signature) => chain.hasSucceeded(signature)));
  return landed.includes(true);
}
