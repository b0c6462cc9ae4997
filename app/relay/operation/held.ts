/**
 * Compares what the ledger and the index say is held with what the chain holds. It reads for the admin's page, and reads
 * again while something seems to be missing: index and ledger may not have noted yet what the chain shows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { sumRows } from '../../database/portable.ts';
import type { HeldComparison, OperationState } from '../../sdk/wire/procedures.ts';
import { parseUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import type { ChainHeld } from '../chain/held.ts';
import { chainUnreadable } from '../errors.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

const PASSES = 3;
const PAUSE_MS = 1_000;

export interface HeldDeps {
  views: Kysely<LedgerDatabase>;
  /** The chain's sums: for rent and deposits of these relay authorities, and gas balances of these wallets. */
  readHeld(whose: { lenders: readonly string[]; wallets: readonly string[] }): Promise<ChainHeld>;
  pauseMs?: number;
}

/** By the index; what waits in deposits by the ledger. */
export async function readHeld(views: Kysely<LedgerDatabase>): Promise<OperationState['held']> {
  const open = await sumRows(views, sql`SELECT price AS amount FROM chain.executions WHERE status = 'open'`);
  const { left, forfeited } = await readCollateral(views);
  const owed = await sumRows(views, sql`SELECT owed AS amount FROM chain.disputes WHERE outcome = 'upheld'`);
  const unclaimed = await sumRows(views, sql`SELECT amount FROM chain.unclaimed_refunds WHERE claimed_at IS NULL`);
  // With the words of the partial index. A payment leaves its deposit with the open.
  const deposits = await sumRows(
    views,
    sql`SELECT price + service_fee AS amount FROM executions
      WHERE state NOT IN ('settled', 'refunded', 'returned', 'void') AND deposit IS NOT NULL
        AND state IN ('paid', 'returning', 'open_signed')`,
  );
  return {
    escrow_usdc: toUsdc(open),
    deposits_usdc: toUsdc(deposits),
    collateral_usdc: toUsdc(left),
    forfeited_usdc: toUsdc(forfeited),
    owed_usdc: toUsdc(owed),
    unclaimed_usdc: toUsdc(unclaimed),
  };
}

/** What creators still have, and what is forfeited, in one pass over the listings. */
async function readCollateral(views: Kysely<LedgerDatabase>): Promise<Record<'left' | 'forfeited', bigint>> {
  const left = sql`CASE WHEN collateral_returned = 0 THEN deposited - slashed ELSE 0 END`;
  const sum = (amount: RawBuilder<unknown>) => sql<bigint>`CAST(coalesce(sum(${amount}), 0) AS BIGINT)`;
  return views
    .selectFrom('chain.listings')
    .select([sum(left).as('left'), sum(sql.ref('forfeited')).as('forfeited')])
    .executeTakeFirstOrThrow();
}

/** Rejects with ApiError if the node does not answer. */
export async function compareHeld(deps: HeldDeps): Promise<HeldComparison> {
  let found = await compareOnce(deps);
  for (let pass = 2; pass <= PASSES && isAnyMissing(found); pass += 1) {
    await sleep(deps.pauseMs ?? PAUSE_MS);
    const next = await compareOnce(deps);
    // What was there once is not missing.
    found = {
      ...next,
      usdc: next.usdc.map((row, at) => (isMissing(found.usdc[at]!) ? row : found.usdc[at]!)),
      rent: found.rent.chain < found.rent.known ? next.rent : found.rent,
    };
  }
  return found;
}

const isMissing = ({ known_usdc, chain_usdc }: HeldComparison['usdc'][number]): boolean => chain_usdc < known_usdc;
const isAnyMissing = ({ usdc, rent }: HeldComparison): boolean => rent.chain < rent.known || usdc.some(isMissing);

async function compareOnce({ views, readHeld: readChain }: HeldDeps): Promise<HeldComparison> {
  const lenders = (await views.selectFrom('lenders').select('address').execute()).map(({ address }) => address);
  const wallets = await views.selectFrom('chain.grants').select('wallet').distinct().execute();
  const held = await readHeld(views);
  const rent = await readRent(views);
  const chain = await readChain({ lenders, wallets: wallets.map(({ wallet }) => wallet) }).catch(chainUnreadable);
  const vaults = parseUsdc(held.collateral_usdc) + parseUsdc(held.forfeited_usdc) + parseUsdc(held.owed_usdc);
  return {
    usdc: [
      { what: 'escrow', known_usdc: held.escrow_usdc, chain_usdc: toUsdc(chain.escrow) },
      { what: 'deposits', known_usdc: held.deposits_usdc, chain_usdc: toUsdc(chain.deposits) },
      { what: 'collateral', known_usdc: toUsdc(vaults), chain_usdc: toUsdc(chain.collateral) },
      { what: 'unclaimed', known_usdc: held.unclaimed_usdc, chain_usdc: toUsdc(chain.unclaimed) },
    ],
    rent: { known: Number(rent), chain: Number(chain.rent) },
    gas_balances: { lamports: Number(chain.gas), wallets: wallets.length },
  };
}

/** Rent that is lent to opened calls, lamports. What is only promised to a call is not on the chain yet. */
const readRent = (views: Kysely<LedgerDatabase>): Promise<bigint> =>
  sumRows(
    views,
    sql`SELECT record_lent AS amount FROM executions WHERE record_lent > 0 AND state IN ('settled', 'refunded')
      UNION ALL
      SELECT record_lent + escrow_lent AS amount FROM executions
      WHERE state NOT IN ('settled', 'refunded', 'returned', 'void')
        AND state IN ('open_confirmed', 'dispatched', 'verified', 'refunding', 'parked')`,
  );
