/** Amounts as decimal text: whole base units inside, and never rounded. Both units fit the u64 of the chain. */

const U64_MAX = 2n ** 64n - 1n;

/** A unit with its name in error messages, and how many decimal places it has. */
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
 * A decimal amount as base units. Nothing is rounded: an amount that is negative, not plain decimal notation, finer than
 * its unit's places or beyond u64 throws a RangeError that names the rule.
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
  // Twenty digits hold every u64, and converting far longer text would cost time before it could be refused.
  const baseUnits = whole.length > 20 ? U64_MAX + 1n : BigInt(whole + fraction.padEnd(decimals, '0'));
  if (baseUnits > U64_MAX) {
    throw new RangeError(`${name} amount must be at most ${formatUnits(unit, U64_MAX)}: ${shown(text)}`);
  }
  return baseUnits;
}

/** The refused text as it may stand in an error message: quoted and short. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
