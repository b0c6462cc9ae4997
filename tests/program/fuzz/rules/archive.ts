/** What the program promises about the archive: ended records become leaves, each once, and all their lamports go back. */
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, type Ledger, text } from '../ledger.ts';
import type { ExecutionRecord } from './executions.ts';

export const ARCHIVE = text(program.findArchive(0));

/** Whether a record may become a leaf: paid three days ago or more, and no dispute can change that any more. */
export function isRipe({ status, settledAt, disputeWindowSeconds }: ExecutionRecord, now: bigint): boolean {
  if (status === 'disputeUpheld') return now >= settledAt + 3n * 86_400n;
  return status === 'completed' && now >= settledAt + BigInt(disputeWindowSeconds);
}

export function createArchive(ledger: Ledger, input: program.CreateArchiveInput): void {
  const value = { version: 1, bump: 0, index: input.index, tree: text(input.tree), count: 0, createdAt: ledger.now };
  ledger.create('Archive', ARCHIVE, text(input.payer), value);
}

/** What is gone, not ripe, named twice, or of another sponsor, or one that cannot be paid, is skipped. */
export function archiveExecutions(ledger: Ledger, input: program.ArchiveExecutionsInput): void {
  const { count } = ledger.state('Archive', ARCHIVE);
  const chosen = new Map<Address, Address>();
  for (const { record: key, rentSponsor: named } of input.executions) {
    const [address, sponsor] = [text(key), text(named)];
    const record = ledger.find('ExecutionRecord', address);
    if (!record || record.rentSponsor !== sponsor || !isRipe(record, ledger.now)) continue;
    // An account of the program might be a record that goes in this very call.
    if (ledger.get(sponsor).state || !ledger.canTake(sponsor, ledger.get(address).lamports)) continue;
    chosen.set(address, sponsor);
  }
  demand(chosen.size > 0, 'NothingToArchive');
  for (const [address, sponsor] of chosen) ledger.close(address, sponsor);
  ledger.change('Archive', ARCHIVE, { count: count + chosen.size });
}
