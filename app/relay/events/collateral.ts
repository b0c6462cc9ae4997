/** Decides when to warn a creator of low collateral: before the program pauses the agent or refuses its executions. */
import type { Config } from '../../sdk/program/program.ts';

/** Collateral is low below this share of the required amount, per cent. */
const ENOUGH_PERCENT = 125n;

/** The requirements of Config for collateral. */
export type CollateralLimits = Pick<Config, 'exposureMultiple' | 'tiers' | 'tierCount'>;

const isLow = (collateral: bigint, needed: bigint): boolean => collateral * 100n < needed * ENOUGH_PERCENT;

/** True if the price requires nearly all of the collateral. Amounts in base units. */
export function isLowForPrice(collateral: bigint, price: bigint, { tiers, tierCount }: CollateralLimits): boolean {
  const tier = tiers.slice(0, tierCount).find(({ maxPrice }) => price <= maxPrice);
  return tier !== undefined && isLow(collateral, tier.deposit);
}

/** True if this open made the collateral low. `exposure`: the sum of prices in the dispute window, with this open. */
export function isLowAfterOpen(
  collateral: bigint,
  { price, exposure }: { price: bigint; exposure: bigint },
  { exposureMultiple }: CollateralLimits,
): boolean {
  if (exposureMultiple === 0) return false;
  const covered = collateral * BigInt(exposureMultiple);
  return isLow(covered, exposure) && !isLow(covered, exposure - price);
}
