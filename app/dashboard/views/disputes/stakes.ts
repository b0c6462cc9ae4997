/** What each side of a dispute can gain and lose, from the chain: price and collateral in USDC, the bond in SOL. */
import { queryOptions } from '@tanstack/react-query';
import { greatest, least } from '../../../sdk/wire/amounts.ts';
import { openChain } from '../../wallet/chain.ts';
import { idBytes } from '../executions/record.ts';

/** Amounts in base units of USDC, or lamports. */
export interface Stakes {
  /** The bond of a new dispute, or the one that this dispute holds, lamports. */
  bond: bigint;
  /** The refundable deposit of the dispute's account, lamports. */
  deposit: bigint;
  /** The agent's collateral: deposited less slashed. */
  left: bigint;
  /** Earlier forfeits, which pay a caller after `left`, up to the price. */
  forfeited: bigint;
  /** The collateral that the agent's price needs; null if no tier has this price any more. */
  required: bigint | null;
  /** The most that a decision can take, in prices of the call. */
  multiple: bigint;
  status: 'active' | 'paused' | 'delisted';
  /** True if the listing has not changed since the call; false also if the chain no longer has the call's record. */
  isSameListing: boolean;
}

/** `executionId`: of an existing dispute; null before it is opened. */
export const stakesQuery = (agentId: string, executionId: string | null) =>
  queryOptions({
    queryKey: ['dispute-stakes', agentId, executionId],
    queryFn: () => readStakes(agentId, executionId),
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });

async function readStakes(agentId: string, executionId: string | null): Promise<Stakes> {
  const { marketplace, program, readListing, readCollateral, PublicKey } = await openChain();
  const { connection, config } = marketplace;
  const listing = new PublicKey(agentId);
  const recordAddress = executionId === null ? null : program.findExecution(idBytes(executionId));
  const [{ price, status, listingVersion }, { deposited, slashed, forfeited }, [held = null, record = null]] =
    await Promise.all([
      readListing(connection, listing),
      readCollateral(connection, listing),
      recordAddress === null
        ? []
        : connection.getMultipleAccountsInfo([program.findDispute(recordAddress), recordAddress]),
    ]);
  const dispute = program.decodeOwn('Dispute', held);
  const tier = config.tiers.slice(0, config.tierCount).find(({ maxPrice }) => price <= maxPrice);
  return {
    bond: dispute ? dispute.bond : config.disputeBondLamports,
    deposit:
      dispute && held
        ? BigInt(held.lamports) - dispute.bond
        : BigInt(await connection.getMinimumBalanceForRentExemption(program.DISPUTE_SIZE)),
    left: deposited - slashed,
    forfeited,
    required: tier ? tier.deposit : null,
    multiple: program.constants.slashMultiple,
    status,
    isSameListing: program.decodeOwn('ExecutionRecord', record)?.listingVersion === listingVersion,
  };
}

/** The most that the caller can get: the price, as far as collateral and earlier forfeits reach. */
export const mostToCaller = ({ left, forfeited }: Stakes, price: bigint): bigint => least(price, left + forfeited);

/** The most that a decision can take. */
export const mostTaken = (stakes: Stakes, price: bigint): bigint =>
  least(price * stakes.multiple, greatest(stakes.left, mostToCaller(stakes, price)));

/** What of the taken amount the collateral pays; earlier forfeits pay the rest. */
export const slashedOf = ({ left }: Stakes, taken: bigint): bigint => least(taken, left);

/** The most that the creator can lose. */
export const mostSlashed = (stakes: Stakes, price: bigint): bigint => slashedOf(stakes, mostTaken(stakes, price));

/** True if the program pauses the agent when this much is taken. */
export const isPausedBy = (stakes: Stakes, taken: bigint): boolean => {
  const { left, required, status } = stakes;
  return status === 'active' && taken > 0n && (required === null || left - slashedOf(stakes, taken) < required);
};
