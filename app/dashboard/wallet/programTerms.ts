/**
 * Constants of the program that everybody can read before the page loads the program's interface, which is large. A
 * test compares them with it. It also reads the refundable deposits of accounts, which the network sets.
 */
import { queryOptions } from '@tanstack/react-query';
import { askNode } from './node.ts';

/** The most that one dispute can take, in prices of the call. */
export const SLASH_MULTIPLE = 20;
/** The highest fee that the program accepts, basis points. */
export const MAX_FEE_BPS = 100;
/** The time after which anybody can end an undecided dispute. */
export const DISPUTE_LAPSE_SECONDS = 2_592_000;
/** The time that an ended dispute stays, with the deposit of its account. */
export const ENDED_DISPUTE_SECONDS = 2_592_000;
/** The time in which a pending change can be applied once it is due. */
export const CHANGE_SECONDS = 604_800;
/** The time that a new guardian waits in addition to the delay of changes. */
export const GUARDIAN_CHANGE_SECONDS = 604_800;

/** Bytes of a listing's accounts that are never closed: the listing, its signing key and its collateral's book. */
const LISTING_BYTES = [389, 74, 168];
/** Bytes of the token account that holds the collateral, and is closed when that is returned. */
const VAULT_BYTES = 165;
/** Bytes of a dispute's account, which is closed some time after its end. */
export const DISPUTE_BYTES = 275;

/**
 * The deposits of new accounts, lamports. `kept` stays in those of a listing; `vault` comes back with the collateral,
 * and `dispute` some time after the dispute's end.
 */
export const depositsQuery = (rpcUrl: string | undefined) =>
  queryOptions({
    queryKey: ['account-deposits', rpcUrl],
    queryFn: async () => {
      const [vault, dispute, ...listing] = await Promise.all(
        [VAULT_BYTES, DISPUTE_BYTES, ...LISTING_BYTES].map((bytes) => readDeposit(rpcUrl!, bytes)),
      );
      return { vault: vault!, dispute: dispute!, kept: listing.reduce((sum, one) => sum + one, 0) };
    },
    enabled: rpcUrl !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

async function readDeposit(rpcUrl: string, bytes: number): Promise<number> {
  const { result } = await askNode(rpcUrl, 'getMinimumBalanceForRentExemption', [bytes]);
  if (typeof result !== 'number') throw new Error('The node did not return the deposit.');
  return result;
}
