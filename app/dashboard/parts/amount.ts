/** Numbers, and amounts of USDC and SOL, as people read them. */
import { formatSol } from '../../sdk/wire/sol.ts';

/** A decimal number with a comma between thousands. Without `Intl`, whose first use blocks a slow phone. */
export function group(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** With two to six decimals, without the unit: for a field, which takes no commas. */
export const typedNumber = (usdc: number): string => usdc.toFixed(6).replace(/0{1,4}$/, '');

/** The same for a column whose head has the unit. */
export const formatNumber = (usdc: number): string => group(typedNumber(usdc));

export const formatAmount = (usdc: number | null): string => (usdc === null ? 'unknown' : `${formatNumber(usdc)} USDC`);

/** An amount in base units. It divides here, because the first load has no toUsdc. */
export const formatUnits = (units: bigint): string => formatAmount(Number(units) / 1e6);

/** Makes all decimals as long as the longest of these. */
export function alignerOf(column: readonly string[]): (decimal: string) => string {
  const most = Math.max(2, ...column.map((decimal) => decimal.split('.')[1]?.length ?? 0));
  return (decimal) => {
    const [whole, fraction = ''] = decimal.split('.');
    return `${whole}.${fraction.padEnd(most, '0')}`;
  };
}

/** Amounts of one column, without the unit: all with as many decimals as the longest. */
export function formatterOf(column: readonly number[]): (usdc: number) => string {
  const align = alignerOf(column.map(formatNumber));
  return (usdc) => align(formatNumber(usdc));
}

/** With two decimals, for a place with little space; never more than the amount. */
export function formatCents(usdc: number): string {
  if (usdc > 0 && usdc < 0.01) return 'under 0.01 USDC';
  return `${group((Math.floor(Number((usdc * 100).toFixed(4))) / 100).toFixed(2))} USDC`;
}

/** SOL with all its digits. */
export const formatLamports = (lamports: number | bigint): string => `${formatSol(BigInt(lamports))} SOL`;

/** A ten-thousandth of a SOL. */
const SHOWN_LAMPORTS = 100_000n;

/**
 * SOL with four decimals; less than one of them is exact. A balance is rounded down, and `up` is for what is taken from
 * one, so that both together are not less than the whole. What is to be paid is exact there or beside it.
 */
export function formatShortSol(amount: number | bigint, { up = false } = {}): string {
  const lamports = BigInt(amount);
  if (lamports < SHOWN_LAMPORTS) return formatLamports(lamports);
  const shown = (lamports + (up ? SHOWN_LAMPORTS - 1n : 0n)) / SHOWN_LAMPORTS;
  return `${(Number(shown) / 10_000).toFixed(4)} SOL`;
}

/**
 * What a bond is worth, in words. The page knows no price of SOL, but the one above which the bond is worth more than
 * the call, whose price is `price_usdc`.
 */
export function bondWorth(bond_lamports: number | bigint, price_usdc: number): string {
  const bond = Number(bond_lamports) / 1e9;
  if (bond === 0) return 'worth nothing';
  return `worth more than the call when a SOL costs over ${formatAmount(Number((price_usdc / bond).toFixed(2)))}`;
}
