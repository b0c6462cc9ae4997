/** Decimal text for amounts of whole base units, without rounding. Both units fit the chain's u64. */

/** Largest amount of the chain. */
export const U64_MAX = 2n ** 64n - 1n;

/** A unit: its name in error messages, and its decimal places. */
export interface Unit {
  name: string;
  decimals: number;
}

/** Base units as exact decimal text without needless zeros. Throws RangeError if negative. */
export function formatUnits({ name, decimals }: Unit, baseUnits: bigint): string {
  if (baseUnits < 0n) throw new RangeError(`${name} amount must not be negative: ${baseUnits} base units`);
  const digits = baseUnits.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const whole = digits.slice(0, -decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * Parses a decimal amount into base units, without rounding. Throws a RangeError that names the rule if the amount is
 * negative, not plain decimal notation, too fine for its unit, or beyond u64.
 */
export function parseUnits(unit: Unit, text: string): bigint {
  const { name, decimals } = unit;
  if (/^-/.test(text)) throw new RangeError(`${name} amount must not be negative: ${shown(text)}`);
  const parts = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (!parts) throw new RangeError(`${name} amount must be a plain decimal such as 1.5: ${shown(text)}`);
  const [, whole = '', fraction = ''] = parts;
  if (fraction.length > decimals) {
    throw new RangeError(`${name} amount must have at most ${decimals} decimal places: ${shown(text)}`);
  }
  // Twenty digits hold every u64. Converting a far longer text would cost time before it is refused.
  const baseUnits = whole.length > 20 ? U64_MAX + 1n : BigInt(whole + fraction.padEnd(decimals, '0'));
  if (baseUnits > U64_MAX) {
    throw new RangeError(`${name} amount must be at most ${formatUnits(unit, U64_MAX)}: ${shown(text)}`);
  }
  return baseUnits;
}

/** The refused text for an error message: quoted and short. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
