/** Limits the size of a result by its price, because this service stores all results. */
import { MAX_ANSWER_BYTES } from '../../sdk/creator/testPost.ts';

/** Base units. */
const CENT = 10_000n;
/** 5 MiB cost 0.80 USDC; at the lowest price, a dollar of fees buys at most 0.7 GB. */
const BYTES_PER_CENT = 65_536n;

/** Maximum bytes of a result for an execution of this price. */
export function maxResultBytes(price: bigint): number {
  const bytes = (price * BYTES_PER_CENT) / CENT;
  return bytes < BigInt(MAX_ANSWER_BYTES) ? Number(bytes) : MAX_ANSWER_BYTES;
}
