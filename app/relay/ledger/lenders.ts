/**
 * The relay authorities that have lent rent on this ledger, to which it returns. They identify this deployment's
 * deposits on the chain.
 */
import { type Kysely, sql } from 'kysely';
import type { DepositRow } from '../../../indexer/queries/tables.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

/** Notes the authority of a relay that starts. It stays known, even if the relay uses another one later. */
export async function noteLender(ledger: Kysely<LedgerTables>, address: string): Promise<void> {
  const insert = ledger.insertInto('lenders').values({ address });
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
}

type UnknownDeposit = Pick<DepositRow, 'deposit' | 'caller' | 'price' | 'service_fee' | 'prepared_at' | 'expires_at'>;

/**
 * Deposits of this deployment that expired by `expiredBy` (unix seconds), exist by the index, and have no row in the
 * ledger, or one that ended without an open. A row is written before its deposit is prepared. Oldest first, beginning after `after`.
 */
export async function readUnknownDeposits(
  views: Kysely<LedgerDatabase>,
  expiredBy: bigint,
  after: Pick<DepositRow, 'prepared_at' | 'deposit'> | null,
  limit: number,
): Promise<UnknownDeposit[]> {
  const { rows } = await sql<UnknownDeposit>`
    SELECT deposit, caller, price, service_fee, prepared_at, expires_at
    FROM chain.deposits AS d
    WHERE closed = 0 AND expires_at <= ${expiredBy}
      AND (prepared_at, deposit) > (${after?.prepared_at ?? -1n}, ${after?.deposit ?? ''})
      AND rent_sponsor IN (SELECT address FROM lenders)
      AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.deposit = d.deposit AND e.state <> 'void'
        AND e.state <> 'returned')
    ORDER BY prepared_at, deposit LIMIT ${limit}`.execute(views);
  return rows;
}
