/** The signed-in wallet's listings. */
import { queryOptions } from '@tanstack/react-query';
import { MIN_CALLS } from '../../../sdk/wire/agentMark.ts';
import type { MarketplaceConfig, OwnListing } from '../../../sdk/wire/procedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount, formatNumber } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { MAX_FEE_BPS } from '../../wallet/programTerms.ts';

/** Interval of refreshing figures while the view is open. */
const REFRESH_MS = 15_000;

export const ownListingsQuery = queryOptions({
  queryKey: ['listings', 'mine'],
  queryFn: () => call('listings.mine'),
  refetchInterval: REFRESH_MS,
});

const BPS = 10_000n;

/** The creator's share of a price: what the fee leaves, which is rounded as the program does. */
export function shareOf(price: number | string, feeBps: number): number {
  const units = parseUsdc(price);
  return toUsdc(units - (units * BigInt(feeBps)) / BPS);
}

/** The prices that the marketplace accepts: `0.01 to 100.00 USDC`. */
export function priceRange({ min_price_usdc, collateral_tiers }: MarketplaceConfig): string {
  const most = collateral_tiers.at(-1)?.max_price_usdc;
  return most === undefined ? formatAmount(min_price_usdc) : `${formatNumber(min_price_usdc)} to ${formatAmount(most)}`;
}

/** The collaterals of its tiers: `1.00 to 100.00 USDC`. */
export function collateralRange({ collateral_tiers: tiers }: MarketplaceConfig): string {
  const [least, most] = [tiers[0]!, tiers.at(-1)!];
  return `${formatNumber(least.deposit_usdc)} to ${formatAmount(most.deposit_usdc)}`;
}

/** Null for a price that the marketplace accepts, and for any amount until its settings are known. */
export function priceFault(text: string, config: MarketplaceConfig | undefined): string | null {
  if (text === '') return 'is missing';
  try {
    const price = parseUsdc(text);
    if (!config) return null;
    if (price < parseUsdc(config.min_price_usdc)) return `must be at least ${config.min_price_usdc} USDC`;
    const highest = config.collateral_tiers.at(-1)?.max_price_usdc ?? 0;
    return price > parseUsdc(highest) ? `must be at most ${highest} USDC` : null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The tier of a price; null for an invalid price. */
export function tierOf(text: string, config: MarketplaceConfig): MarketplaceConfig['collateral_tiers'][number] | null {
  if (priceFault(text, config)) return null;
  return config.collateral_tiers.find(({ max_price_usdc }) => parseUsdc(text) <= parseUsdc(max_price_usdc)) ?? null;
}

/** The most that the fee can become. */
export const feeLimit = (feeBps: number): string =>
  `The program allows at most ${MAX_FEE_BPS / 100} %${feeBps === MAX_FEE_BPS ? ', so only a new program could raise it.' : '. Calls in progress keep their fee.'}`;

/** Adds amounts as whole base units. */
export const sumUsdc = (amounts: readonly number[]): number =>
  toUsdc(amounts.reduce((sum, amount) => sum + parseUsdc(amount), 0n));

/** The part of the collateral that disputes took. What was earned stays with the creator. */
export const takenText = (slashed: number): string | undefined =>
  slashed > 0 ? `Disputes took ${formatAmount(slashed)} of the collateral.` : undefined;

/** The remaining deposit. */
export function heldCollateral({ collateral: { deposited_usdc, slashed_usdc, returned } }: OwnListing): number {
  return returned ? 0 : lessUsdc(deposited_usdc, slashed_usdc);
}

/** The deposit that the listing's price needs beyond what it holds; 0 if it holds enough. */
export function missingCollateral(listing: OwnListing, config: MarketplaceConfig | undefined): number {
  const tier = config && tierOf(String(listing.price_usdc), config);
  return tier ? lessUsdc(tier.deposit_usdc, heldCollateral(listing)) : 0;
}

/** True if the listing holds exactly what its price needs. */
export function isAtMinimum(listing: OwnListing, config: MarketplaceConfig | undefined): boolean {
  const tier = config && tierOf(String(listing.price_usdc), config);
  return Boolean(tier) && parseUsdc(tier!.deposit_usdc) === parseUsdc(heldCollateral(listing));
}

/** The difference, at least 0. */
export function lessUsdc(from: number, amount: number): number {
  const rest = parseUsdc(from) - parseUsdc(amount);
  return rest > 0n ? toUsdc(rest) : 0;
}

/** The health of an agent without a mark, after the word “Health”. */
export function healthWords({ total_executions: all }: Pick<OwnListing, 'total_executions'>): string {
  if (all === 0) return 'no calls yet';
  return all < MIN_CALLS ? `not rated before ${MIN_CALLS} calls` : 'good';
}
