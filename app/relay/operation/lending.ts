/** How much rent the operator may lend: by its setting, and never more than its balance allows. */
import type { Kysely } from 'kysely';
import { type Lending, readLent } from '../ledger/funding.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

/** The balance keeps this many times the minimum below which new executions are refused, so that loans never close it. */
const RESERVE = 2n;

export interface WatchedLending extends Lending {
  /** Takes in a new reading of the balance, lamports. */
  look(balance: number): Promise<void>;
}

export function createLending({
  recordSeconds,
  sponsorsAll,
  lentLamports,
  minLamports,
  views,
}: {
  /** Of Config. */
  recordSeconds: number;
  sponsorsAll: boolean;
  lentLamports: bigint | null;
  minLamports: number;
  views: Kysely<LedgerDatabase>;
}): WatchedLending {
  let lendable = 0n;
  return {
    sponsorsAll,
    recordSeconds,
    limit: () => (lentLamports !== null && lentLamports < lendable ? lentLamports : lendable),
    async look(balance) {
      const { lent } = await readLent(views);
      lendable = BigInt(balance) + lent - RESERVE * BigInt(minLamports);
    },
  };
}
