/** Finds deposits of this service that exist on the chain and have no row in the journal. */
import { type Connection, PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { chunks } from '../../process/chunks.ts';
import { ownAccount } from '../../sdk/program/program.ts';
import { formatUsdc } from '../../sdk/wire/usdc.ts';
import { readUnknownDeposits } from '../ledger/lenders.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { Difference, Restored } from './compare.ts';

/** The maximum of accounts in one request. */
const PAGE = 100;
const EVER = 2n ** 63n - 1n;

/** One difference for each such deposit, at most `limit`. */
export async function checkDeposits(
  { connection, views, restored }: { connection: Connection; views: Kysely<LedgerDatabase>; restored?: Restored },
  limit: number,
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const rows of chunks(await readUnknownDeposits(views, EVER, null, limit), PAGE)) {
    const addresses = rows.map(({ deposit }) => new PublicKey(deposit));
    const accounts = await connection.getMultipleAccountsInfo(addresses, 'finalized');
    for (const [at, { deposit, caller, price, service_fee: fee, prepared_at: preparedAt }] of rows.entries()) {
      if (!ownAccount(accounts[at])) continue;
      if (restored && BigInt(preparedAt) >= restored.to) {
        restored.onLater(deposit);
        continue;
      }
      const detail = `price ${formatUsdc(BigInt(price))}, service fee ${formatUsdc(fee)}, of ${caller}`;
      found.push({ kind: 'journal_deposit', subject: deposit, detail });
    }
  }
  return found;
}
