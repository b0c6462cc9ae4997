/** How much rent the operator may lend: by its setting, and never more than its balance allows. */
import type { Kysely } from 'kysely';
import { least } from '../../sdk/wire/amounts.ts';
import { RENTS_SECONDS } from '../execution/recovery/recover.ts';
import { readLent } from '../ledger/sums.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

/** The balance keeps this many times the minimum below which new executions are refused, so that loans never close it. */
export const RESERVE = 2n;

export type WatchedLending = ReturnType<typeof createLending>;

export function createLending({
  recordSeconds,
  archiveWaitSeconds,
  sponsorsAll,
  lentLamports,
  minLamports,
  views,
}: {
  /** Of Config at the start. */
  recordSeconds: number;
  /** Longest time that a record waits to be archived with others. */
  archiveWaitSeconds: number;
  sponsorsAll: boolean;
  lentLamports: bigint | null;
  minLamports: number;
  views: Kysely<LedgerDatabase>;
}) {
  let lendable = 0n;
  let kept = recordSeconds;
  return {
    sponsorsAll,
    returnSeconds: () => kept + archiveWaitSeconds + RENTS_SECONDS,
    limit: () => (lentLamports === null ? lendable : least(lentLamports, lendable)),
    /** Takes in `record_seconds` of a new reading of Config. */
    keeps(seconds: number): void {
      kept = seconds;
    },
    /** Takes in a new reading of the balance, lamports. */
    async poll(balance: number): Promise<void> {
      const { lent } = await readLent(views);
      lendable = BigInt(balance) + lent - RESERVE * BigInt(minLamports);
    },
  };
}
