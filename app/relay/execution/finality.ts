/**
 * A confirmed transaction can be taken back by the chain until it is finalized. Executions that have ended are therefore
 * looked at once more when no bytes of theirs can land any longer: one whose record does not show its end goes on.
 */
import type { Logger } from 'pino';
import { decodeAccount, findExecution, RECORD_OFFSETS, RECORD_STATUS_BYTE } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Journal } from '../ledger/journal.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { toRow } from './orphans.ts';

/** Rows of one look: a node reads 100 accounts at once, and the clock is one. */
const BATCH = 99;
const ANY = 2n ** 63n - 1n;

/** Looks at what has ended since the last look. Throws where the node does not answer; nothing is changed then. */
export async function proveEnds(
  chain: Pick<RelayChain, 'authority' | 'finalized' | 'readFinalized'>,
  journal: Journal,
  log: Logger,
): Promise<void> {
  if ((await journal.unproven(ANY, ANY, 1)).length === 0) return;
  const { slot, blockHeight } = await chain.finalized();
  const { now } = await chain.readFinalized([], slot);
  for (;;) {
    const rows = await journal.unproven(blockHeight, now, BATCH);
    if (rows.length === 0) return;
    const keys = rows.map((row) => findExecution(parseUuid(row.execution_id)!));
    const { accounts } = await chain.readFinalized(keys, slot);
    const proven: string[] = [];
    for (const [index, row] of rows.entries()) {
      const data = accounts[index]?.data;
      // What a wallet opened itself under the id of a call that never paid is the wallet's business.
      const found = row.state === 'void' && data ? decodeAccount('ExecutionRecord', data) : null;
      const isOthers = found !== null && !found.rentSponsor.equals(chain.authority);
      if (isOthers || isProven(row, data?.[RECORD_OFFSETS.status])) {
        proven.push(row.execution_id);
        continue;
      }
      log.error({ execution_id: row.execution_id }, 'the chain does not show the end of an execution');
      if (found) await journal.adopt(toRow(found), found, Date.now());
      else await journal.takeBack(row);
    }
    await journal.proven(proven);
  }
}

/**
 * `status` is the record's byte. Only refunded records are ever closed: one that is gone has cost nobody anything, as one
 * that never was. A record where none should be is another's, or was opened after all.
 */
function isProven({ state }: Pick<JournalRow, 'state'>, status: number | undefined): boolean {
  if (status === undefined) return state === 'refunded' || state === 'void';
  if (state === 'void') return false;
  if (status === RECORD_STATUS_BYTE.open) return false;
  return (status === RECORD_STATUS_BYTE.refunded) === (state === 'refunded');
}
