/** When a creator is told that an agent's collateral is low: before the program pauses it or refuses its executions. */
import type { Config } from '../../sdk/program/program.ts';

/** Collateral is low when it is less than this part of what is needed, per cent. */
const ENOUGH_PERCENT = 125n;

/** What Config asks of collateral. */
export type CollateralLimits = Pick<Config, 'exposureMultiple' | 'tiers' | 'tierCount'>;

const isLow = (collateral: bigint, needed: bigint): boolean => collateral * 100n < needed * ENOUGH_PERCENT;

/** True if the price requires nearly all of the collateral. Amounts in base units. */
export function isLowForPrice(collateral: bigint, price: bigint, { tiers, tierCount }: CollateralLimits): boolean {
  const tier = tiers.slice(0, tierCount).find(({ maxPrice }) => price <= maxPrice);
  return tier !== undefined && isLow(collateral, tier.deposit);
}

/** True if this open, and not one before it, made the collateral low for `exposure`, the prices of its dispute window. */
export function isLowAfterOpen(
  collateral: bigint,
  { price, exposure }: { price: bigint; exposure: bigint },
  { exposureMultiple }: CollateralLimits,
): boolean {
  if (exposureMultiple === 0) return false;
  const covered = collateral * BigInt(exposureMultiple);
  return isLow(covered, exposure) && !isLow(covered, exposure - price);
}
