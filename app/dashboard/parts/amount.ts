/** Amounts of USDC as people read them. */

const USDC = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const CENTS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const formatAmount = (usdc: number | null): string => (usdc === null ? 'unknown' : `${USDC.format(usdc)} USDC`);

/** With two decimals, for a place with little space; never more than the amount. */
export function formatCents(usdc: number): string {
  if (usdc > 0 && usdc < 0.01) return 'under 0.01 USDC';
  return `${CENTS.format(Math.floor(Number((usdc * 100).toFixed(4))) / 100)} USDC`;
}
