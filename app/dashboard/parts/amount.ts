/** Amounts of USDC and SOL as people read them. */
import { formatSol } from '../../sdk/wire/sol.ts';

const USDC = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const CENTS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const formatAmount = (usdc: number | null): string => (usdc === null ? 'unknown' : `${USDC.format(usdc)} USDC`);

/** With two decimals, for a place with little space; never more than the amount. */
export function formatCents(usdc: number): string {
  if (usdc > 0 && usdc < 0.01) return 'under 0.01 USDC';
  return `${CENTS.format(Math.floor(Number((usdc * 100).toFixed(4))) / 100)} USDC`;
}

/** SOL with three digits; never less than the amount. The dialog that signs shows the exact one. */
export function formatSolUp(lamports: bigint): string {
  const unit = 10n ** BigInt(Math.max(0, lamports.toString().length - 3));
  return `${formatSol(((lamports + unit - 1n) / unit) * unit)} SOL`;
}

/** A ten-thousandth of a SOL. */
const SHOWN_LAMPORTS = 100_000;

/** SOL with four decimals; never more than the amount. A smaller amount is exact. */
export function formatShortSol(lamports: number): string {
  const shown = lamports < SHOWN_LAMPORTS ? lamports : Math.floor(lamports / SHOWN_LAMPORTS) * SHOWN_LAMPORTS;
  return `${formatSol(BigInt(shown))} SOL`;
}
