/**
 * USDC amounts: integer base units inside, decimals in JSON. One USDC is 1,000,000 base units. An amount is never
 * negative and fits the token program's u64.
 */
import { formatUnits, parseUnits, U64_MAX, type Unit } from './decimal.ts';

const USDC: Unit = { name: 'USDC', decimals: 6 };
const BASE_UNITS_PER_USDC = 1_000_000;

/**
 * Base units as the JSON number of answers: `1500000n` becomes `1.5`, with at most 6 decimal places. Exact below 2^33
 * USDC (8.6 billion). Above that, doubles are coarser than a base unit, and the nearest one is returned. Use
 * `formatUsdc` for figures that may be larger, such as an unlimited allowance. Throws RangeError for a negative amount.
 */
export function toUsdc(baseUnits: bigint): number {
  if (baseUnits < 0n) throw new RangeError(`USDC amount must not be negative: ${baseUnits} base units`);
  return Number(baseUnits) / BASE_UNITS_PER_USDC;
}

/**
 * Base units as exact decimal text, without trailing zeros: `1500000n` becomes `'1.5'`. Throws RangeError if negative.
 */
export function formatUsdc(baseUnits: bigint): string {
  return formatUnits(USDC, baseUnits);
}

/**
 * Parses a decimal amount into base units, without rounding: `'1.5'` or `1.5` becomes `1500000n`. Throws a RangeError
 * that names the rule if the amount is negative, not finite, not plain decimal notation, finer than 6 places, or beyond
 * u64.
 */
export function parseUsdc(value: string | number): bigint {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`USDC amount must be a finite number, not ${value}`);
  }
  // A number is parsed as text: its shortest decimal form is what the sender wrote.
  const text = String(value);
  if (typeof value === 'number' && value >= 0 && text.includes('e')) {
    const rule = value < 1 ? `have at most ${USDC.decimals} decimal places` : `be at most ${formatUsdc(U64_MAX)}`;
    throw new RangeError(`USDC amount must ${rule}: ${text}`);
  }
  return parseUnits(USDC, text);
}

/** True if `parseUsdc` accepts the number. */
export function isUsdc(value: number): boolean {
  try {
    parseUsdc(value);
    return true;
  } catch {
    return false;
  }
}
