/** The program's rules for the archive: each ended record becomes a leaf once, and all its lamports are returned. */
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, type Ledger, type StateOf, text } from '../ledger.ts';
import { config } from './config.ts';

export const ARCHIVE = text(program.findArchive(0));

/** The time from which a paid record may become a leaf, disputed or not. */
export function ripeFrom(ledger: Ledger, { settledAt }: StateOf<'ExecutionRecord'>): bigint {
  return settledAt + BigInt(config(ledger).recordSeconds);
}

/** True if a record may become a leaf. */
export function isRipe(ledger: Ledger, record: StateOf<'ExecutionRecord'>): boolean {
  return record.status === 'completed' && ledger.now >= ripeFrom(ledger, record);
}

export function createArchive(ledger: Ledger, input: program.CreateArchiveInput): void {
  ledger.demandNew(ARCHIVE);
  const value = { version: 1, bump: 0, index: input.index, tree: text(input.tree), count: 0, createdAt: ledger.now };
  ledger.create('Archive', ARCHIVE, text(input.payer), value);
}

/** Skips records that are missing, not ready or named twice, and sponsors that are wrong or cannot receive lamports. */
export function archiveExecutions(ledger: Ledger, input: program.ArchiveExecutionsInput): void {
  ledger.state('Archive', ARCHIVE);
  const chosen = new Map<Address, Address>();
  for (const { record: key, rentSponsor: named } of input.executions) {
    const [address, sponsor] = [text(key), text(named)];
    const record = ledger.find('ExecutionRecord', address);
    if (!record || record.rentSponsor !== sponsor || !isRipe(ledger, record)) continue;
    // A sponsor that is an account of the program might be a record that this call closes.
    if (ledger.get(sponsor).state || !ledger.canTake(sponsor, ledger.get(address).lamports)) continue;
    chosen.set(address, sponsor);
  }
  demand(chosen.size > 0, 'NothingToArchive');
  for (const [address, sponsor] of chosen) ledger.close(address, sponsor);
  addLeaves(ledger, chosen.size);
}

/** Counts new leaves. */
export function addLeaves(ledger: Ledger, added: number): void {
  ledger.change('Archive', ARCHIVE, { count: ledger.state('Archive', ARCHIVE).count + added });
}
