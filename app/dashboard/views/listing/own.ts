/** The signed-in wallet's listings. */
import { queryOptions } from '@tanstack/react-query';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { call } from '../../service.ts';

/** Interval of refreshing figures while the view is open. */
const REFRESH_MS = 15_000;

export const ownListingsQuery = queryOptions({
  queryKey: ['listings', 'mine'],
  queryFn: () => call('listings.mine'),
  refetchInterval: REFRESH_MS,
});

/** Adds amounts as whole base units. */
export const sumUsdc = (amounts: readonly number[]): number =>
  toUsdc(amounts.reduce((sum, amount) => sum + parseUsdc(amount), 0n));

/** The remaining deposit. */
export function heldCollateral({ collateral: { deposited_usdc, slashed_usdc, returned } }: OwnListing): number {
  return returned ? 0 : lessUsdc(deposited_usdc, slashed_usdc);
}

/** The difference, at least 0. */
export function lessUsdc(from: number, amount: number): number {
  const rest = parseUsdc(from) - parseUsdc(amount);
  return rest > 0n ? toUsdc(rest) : 0;
}
