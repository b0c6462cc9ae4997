/** SOL amounts: integer lamports inside, decimals for people. One SOL is 1,000,000,000 lamports. */
import { formatUnits, parseUnits, type Unit } from './decimal.ts';

const SOL: Unit = { name: 'SOL', decimals: 9 };

/** Lamports as exact decimal text: `10000n` becomes `'0.00001'`. Throws RangeError if negative. */
export function formatSol(lamports: bigint): string {
  return formatUnits(SOL, lamports);
}

/** A decimal amount as lamports: `'0.01'` becomes `10000000n`. Throws RangeError as `parseUsdc` does. */
export function parseSol(text: string): bigint {
  return parseUnits(SOL, text);
}
