/**
 * USDC amounts: integers of base units inside, decimals in JSON. This is the only place that divides or multiplies
 * by 10^6. One USDC is 1,000,000 base units; an amount is never negative and fits the u64 of the token program.
 */

const BASE_UNITS_PER_USDC = 1_000_000n;
const DECIMALS = 6;
const U64_MAX = 2n ** 64n - 1n;

/**
 * Base units as the JSON number that answers carry: `1500000n` becomes `1.5`, with at most 6 decimal places.
 * Exact below 2^33 USDC (8.6 billion); above that doubles are coarser than a base unit and the nearest one is given,
 * so a figure that may be larger, such as an unlimited allowance, is better shown by `formatUsdc`.
 * Throws RangeError for a negative amount.
 */
export function toUsdc(baseUnits: bigint): number {
  requireAmount(baseUnits);
  return Number(baseUnits) / Number(BASE_UNITS_PER_USDC);
}

/** Base units as exact decimal text without needless zeros: `1500000n` becomes `'1.5'`. Throws RangeError if negative. */
export function formatUsdc(baseUnits: bigint): string {
  requireAmount(baseUnits);
  const whole = baseUnits / BASE_UNITS_PER_USDC;
  const fraction = (baseUnits % BASE_UNITS_PER_USDC).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return fraction === '' ? whole.toString() : `${whole}.${fraction}`;
}

/**
 * A decimal amount as base units: `'1.5'` or `1.5` becomes `1500000n`. Nothing is rounded: an amount that is negative,
 * not finite, not plain decimal notation, finer than 6 places or beyond u64 throws a RangeError that names the rule.
 */
export function parseUsdc(value: string | number): bigint {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`USDC amount must be a finite number, not ${value}`);
  }
  // The shortest decimal that reads back as the same double is what the sender wrote, so a number goes the way of text.
  const text = String(value);
  if (/^-/.test(text)) throw new RangeError(`USDC amount must not be negative: ${shown(text)}`);
  if (typeof value === 'number' && text.includes('e')) {
    const rule = value < 1 ? `have at most ${DECIMALS} decimal places` : `be at most ${formatUsdc(U64_MAX)}`;
    throw new RangeError(`USDC amount must ${rule}: ${text}`);
  }
  const parts = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (!parts) throw new RangeError(`USDC amount must be a plain decimal such as 1.5: ${shown(text)}`);
  const [, whole = '', fraction = ''] = parts;
  if (fraction.length > DECIMALS) {
    throw new RangeError(`USDC amount must have at most ${DECIMALS} decimal places: ${shown(text)}`);
  }
  // Twenty digits hold every u64, and converting far longer text would cost time before it could be refused.
  const baseUnits = whole.length > 20 ? U64_MAX + 1n : BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  if (baseUnits > U64_MAX) throw new RangeError(`USDC amount must be at most ${formatUsdc(U64_MAX)}: ${shown(text)}`);
  return baseUnits;
}

function requireAmount(baseUnits: bigint): void {
  if (baseUnits < 0n) throw new RangeError(`USDC amount must not be negative: ${baseUnits} base units`);
}

/** The refused text as it may stand in an error message: quoted and short. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
