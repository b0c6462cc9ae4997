/** Limits the size of a result by its price, because this service stores all results. */
import { MAX_ANSWER_BYTES } from '../../sdk/creator/testPost.ts';

/** Base units. */
const CENT = 10_000n;

/** Maximum bytes of a result for an execution of this price. */
export function maxResultBytes(price: bigint, bytesPerCent: number): number {
  const bytes = (price * BigInt(bytesPerCent)) / CENT;
  return bytes < BigInt(MAX_ANSWER_BYTES) ? Number(bytes) : MAX_ANSWER_BYTES;
}
