/** Integers of money. `Math` has these functions for numbers only. */

export function least(one: bigint, ...others: bigint[]): bigint {
  let found = one;
  for (const other of others) if (other < found) found = other;
  return found;
}

export function greatest(one: bigint, ...others: bigint[]): bigint {
  let found = one;
  for (const other of others) if (other > found) found = other;
  return found;
}
