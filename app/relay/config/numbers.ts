/** Numbers in settings. */
import { z } from 'zod';

/** A whole number, such as a number of seconds. */
export function whole(min: number, max?: number) {
  const number = z.coerce.number().int().min(min);
  return max === undefined ? number : number.max(max);
}

/** An amount in the smallest units, such as lamports. */
export function amount(max?: bigint) {
  const number = z.coerce.bigint().min(0n);
  return max === undefined ? number : number.max(max);
}
