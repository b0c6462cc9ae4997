/** Integers of money. `Math` has these functions for numbers only. */

export const least = (one: bigint, ...others: bigint[]): bigint =>
  others.reduce((found, other) => (other < found ? other : found), one);

export const greatest = (one: bigint, ...others: bigint[]): bigint =>
  others.reduce((found, other) => (other > found ? other : found), one);
