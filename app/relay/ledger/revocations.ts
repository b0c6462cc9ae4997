/** The table of revocations: the fees of the last 24 hours for revoking grants on-chain. */
import { type Kysely, sql } from 'kysely';
import { underLock } from '../../database/portable.ts';
import { DAY_MS } from './funding.ts';
import type { LedgerTables } from './tables.ts';

/** Lamports within 24 hours. */
export interface RevocationBudget {
  wallet: bigint;
  total: bigint;
}

/**
 * Counts one more revocation of this wallet, if the budget has room for it. It will be sent at `nowMs` and costs `fee`.
 * Relays of one ledger count one after another. Returns true if it was counted.
 */
export function countRevocation(
  ledger: Kysely<LedgerTables>,
  revocation: { wallet: string; fee: bigint; nowMs: number },
  budget: RevocationBudget,
): Promise<boolean> {
  return underLock(ledger, 'revocations', (locked) => count(locked, revocation, budget));
}

async function count(
  ledger: Kysely<LedgerTables>,
  { wallet, fee, nowMs }: Parameters<typeof countRevocation>[1],
  budget: RevocationBudget,
): Promise<boolean> {
  const since = BigInt(nowMs) - DAY_MS;
  await ledger.deleteFrom('revocations').where('sent_ms', '<=', since).execute();
  const spent = sql`SELECT coalesce(sum(fee), 0) FROM revocations WHERE sent_ms > ${since}`;
  const { numAffectedRows } = await sql`INSERT INTO revocations (wallet, sent_ms, fee)
    SELECT ${wallet}, ${BigInt(nowMs)}, ${fee}
    WHERE (${spent} AND wallet = ${wallet}) + ${fee} <= ${budget.wallet}
      AND (${spent}) + ${fee} <= ${budget.total}`.execute(ledger);
  return numAffectedRows === 1n;
}
