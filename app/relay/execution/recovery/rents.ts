/** Notices which of the rents that the operator lent have returned. */
import { constants, findExecution, ownAccount } from '../../../sdk/program/program.ts';
import { parseUuid } from '../../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../../chain/relayChain.ts';
import type { Journal } from '../../ledger/journal.ts';
import type { JournalRow } from '../../ledger/tables.ts';

/** Rows of one batch: a node reads 100 accounts at a time, and the clock is one. */
const BATCH = 99;

/**
 * Records which of the lent rents were returned. A closed or archived record has returned its rent to its sponsor.
 * Throws if the node does not answer.
 */
export async function countRents(
  chain: Pick<RelayChain, 'readAgreed'>,
  journal: Pick<Journal, 'lent' | 'rentReturned'>,
): Promise<void> {
  const { now } = await chain.readAgreed([]);
  for (let after: Parameters<typeof journal.lent>[2] = null; ; ) {
    const rows = await journal.lent(now - BigInt(constants.recordSecondsMin), BATCH, after);
    const last = rows.at(-1);
    if (!last) return;
    after = last;
    const { accounts } = await chain.readAgreed(rows.map(addressOf));
    await journal.rentReturned(rows.filter((_, index) => !ownAccount(accounts[index])).map((row) => row.execution_id));
  }
}

const addressOf = (row: Pick<JournalRow, 'execution_id'>) => findExecution(parseUuid(row.execution_id)!);
