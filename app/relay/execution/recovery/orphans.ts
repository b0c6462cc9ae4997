/** Adopts orphans: records on the chain that the journal does not know, for example after a lost disk. */
import { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { decodeAccount, decodeOwn, type ExecutionRecord, PROGRAM_ID } from '../../../sdk/program/program.ts';
import { LAMPORTS_PER_SIGNATURE } from '../../chain/networkFee.ts';
import { COMMITMENT } from '../../chain/reader.ts';
import { readMany } from '../../chain/readMany.ts';
import type { RelayChain } from '../../chain/relayChain.ts';
import { decodeRents, RENT_ADDRESS } from '../../chain/rent.ts';
import type { Way } from '../../ledger/funding.ts';
import type { JournalRow } from '../../ledger/tables.ts';
import type { EngineDeps } from '../deps.ts';
import { claimOf, isByWallet, OPEN_RECORDS } from '../records.ts';

/**
 * The gas that the record holds, and the part of its rent that the operator lent: the sponsor is a relay authority. The
 * row that a replaced call left knows what its open repaid.
 */
export async function wayOf(
  { chain, authorities }: Pick<EngineDeps, 'chain' | 'authorities'>,
  record: ExecutionRecord,
): Promise<Way> {
  const way = { fee: 0n, repaid: 0n, gas: BigInt(record.gasLamports), recordRent: 0n, escrowRent: 0n, gasBalance: 0n };
  if (!authorities.names(record.rentSponsor.toBase58())) return way;
  const { accounts } = await chain.read([RENT_ADDRESS]);
  const rents = decodeRents(accounts[0]!.data);
  return { ...way, recordRent: rents.record, escrowRent: record.spenderBump !== 0 ? 0n : rents.escrow };
}

/**
 * Adds a parked row for each open record whose row is missing or void, with any rent sponsor. Checks these records, or
 * all of the chain. A parked row is refunded once no relay can settle it. A record that a wallet opened itself may be
 * started until its deadline, so one without a key is skipped until then. Later it is adopted if its gas pays for the
 * refund, or its rent is the operator's: then a deposit has paid for it, and its payer has no SOL. Anyone may refund the
 * others. Returns the number of adopted records. Throws if the node does not answer.
 */
export async function adoptOrphans(
  deps: Pick<EngineDeps, 'chain' | 'journal' | 'authorities'>,
  log: Logger,
  records?: readonly string[],
): Promise<number> {
  const { chain, journal } = deps;
  const isWorthIt = ({ gasLamports, rentSponsor }: ExecutionRecord) =>
    BigInt(gasLamports) >= LAMPORTS_PER_SIGNATURE || deps.authorities.names(rentSponsor.toBase58());
  let adopted = 0;
  for (const record of records ? await readOpen(chain, records) : await scanOpen(chain)) {
    const isOver = chain.clock() >= record.deadline && isWorthIt(record);
    if (isByWallet(record) && !isOver) continue;
    const row = claimOf(record);
    if (!(await journal.adopt(row, record, Date.now(), await wayOf(deps, record)))) continue;
    log.warn(
      { execution_id: row.execution_id },
      'found an orphan: an open record without a row; it will be refunded from a minute before refund_at on',
    );
    adopted += 1;
  }
  return adopted;
}

/** Parks rows whose open has landed although their deposit counts as returned. They are refunded like orphans. */
export async function parkLanded(
  { journal }: Pick<EngineDeps, 'journal'>,
  log: Logger,
  rows: readonly Pick<JournalRow, 'execution_id' | 'state'>[],
): Promise<void> {
  for (const row of rows) {
    await journal.parkEnded(row);
    log.error({ execution_id: row.execution_id }, 'parked an execution: its open has landed after it was given up');
  }
}

async function readOpen(chain: Pick<RelayChain, 'read'>, records: readonly string[]): Promise<ExecutionRecord[]> {
  if (records.length === 0) return [];
  const { accounts } = await readMany(
    chain,
    records.map((address) => new PublicKey(address)),
  );
  const read = accounts.flatMap((account) => decodeOwn('ExecutionRecord', account) ?? []);
  return read.filter(({ status }) => status === 'open');
}

async function scanOpen(chain: Pick<RelayChain, 'scanning'>): Promise<ExecutionRecord[]> {
  const found = await chain.scanning.getProgramAccounts(PROGRAM_ID, { commitment: COMMITMENT, filters: OPEN_RECORDS });
  return found.map(({ account }) => decodeAccount('ExecutionRecord', account.data));
}
