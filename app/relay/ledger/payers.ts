/** Wallets that have paid. Creating a keypair is free, so limits require a settled execution instead. */
import { type Kysely, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { hasRows } from '../../database/portable.ts';
import type { LedgerDatabase } from './tables.ts';

/** Wallets known to have paid: about 200 bytes each. */
const MAX_KEPT = 20_000;

export type Payers = ReturnType<typeof createPayers>;

export function createPayers(views: Kysely<LedgerDatabase>) {
  // Only wallets that have paid are cached: every other wallet may pay at any time.
  const paid = new LRUCache<string, true>({ max: MAX_KEPT });

  /** True if an execution of the wallet was settled, by the index. */
  async function hasPaid(wallet: string): Promise<boolean> {
    if (paid.has(wallet)) return true;
    const settled = sql`SELECT 1 FROM chain.executions WHERE caller = ${wallet} AND status = 'completed'`;
    if (!(await hasRows(views, settled))) return false;
    paid.set(wallet, true);
    return true;
  }

  const hasListing = (wallet: string): Promise<boolean> =>
    hasRows(views, sql`SELECT 1 FROM chain.listings WHERE creator = ${wallet} AND status <> 'delisted'`);

  async function isAdmin(wallet: string): Promise<boolean> {
    const row = await views.selectFrom('chain.configs').select('admin').executeTakeFirst();
    return row?.admin === wallet;
  }

  return {
    hasPaid,
    /** True if the wallet has paid, has a listing, which requires collateral, or is the admin's. */
    isKnown: async (wallet: string): Promise<boolean> =>
      (await hasPaid(wallet)) || (await hasListing(wallet)) || isAdmin(wallet),
  };
}
