/**
 * An open whose record cannot be found. From an hour after its open on, an ended record may have left its address, so a
 * missing record does not mean that nothing was paid: the relay may have been down, or a stranger may have ended it.
 */
import { constants } from '../../../sdk/program/program.ts';
import type { JournalRow } from '../../ledger/tables.ts';
import { transactionsOf } from '../../ledger/transactions.ts';
import type { EngineDeps, Step } from '../deps.ts';

/**
 * If an open of the row has landed and its record has left its address, confirms the open: the next step ends the row as
 * the index says. `wait` until the index knows the end. Null if no open has landed. `at` is the reading without a record.
 */
export async function followGone(
  { chain, journal, closedEnd }: Pick<EngineDeps, 'chain' | 'journal' | 'closedEnd'>,
  row: JournalRow,
  at: { now: bigint; slot: number },
): Promise<Step | null> {
  if (at.now < row.accepted_at + BigInt(constants.recordSecondsMin)) return null;
  const end = await closedEnd(row.execution_id);
  // A wallet may open a record with the same id itself.
  const isByRelay = end !== null && (end.keyId !== null || end.deposit !== null) && end.deposit === row.deposit;
  if (isByRelay && end.listing === row.listing && end.requestHash === row.request_hash) {
    await journal.openConfirmed(row, end, at.slot);
    return 'next';
  }
  const opens = transactionsOf(row, 'open').map(({ signature }) => signature);
  return (await hasLanded(chain, opens)) ? 'wait' : null;
}

/** True if one of these transactions has landed and succeeded. */
export async function hasLanded(
  chain: Pick<EngineDeps['chain'], 'hasSucceeded'>,
  signatures: readonly string[],
): Promise<boolean> {
  const landed = await Promise.all(signatures.map((signature) => chain.hasSucceeded(signature)));
  return landed.includes(true);
}
