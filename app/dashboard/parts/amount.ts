/** Amounts of USDC as people read them. */

const USDC = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

export const formatAmount = (usdc: number | null): string => (usdc === null ? 'unknown' : `${USDC.format(usdc)} USDC`);
