/** How large a result may be: as large as its price pays for, because everybody's results are kept. */
import { MAX_ANSWER_BYTES } from './dispatch.ts';

/** Base units. */
const CENT = 10_000n;

/** Bytes of the largest result that an execution of this price may have. */
export function maxResultBytes(price: bigint, bytesPerCent: number): number {
  const bytes = (price * BigInt(bytesPerCent)) / CENT;
  return bytes < BigInt(MAX_ANSWER_BYTES) ? Number(bytes) : MAX_ANSWER_BYTES;
}
