/** Proposes how many lamports a key may take from the gas balance. Small, so that forms can show it at once. */

/** Refundable deposits of one call, lamports. They count against a cap if the gas balance lends them. */
const DEPOSITS = 5_000_000n;
/** Price per call that a proposed cap assumes, base units: 0.1 USDC. */
const USUAL_PRICE = 100_000n;
const LEAST_CALLS = 20n;
/** Largest proposal, 1,000 SOL: more would not be a cap. */
const MOST = 1_000_000_000_000n;

/**
 * A cap for one period, lamports. It is enough for 20 calls, and for all calls of 0.1 USDC that the key's limit for the
 * period can pay.
 */
export function proposeMaxLamports(limits: { periodMax: bigint; maxGasLamports: number }): bigint {
  const paid = limits.periodMax / USUAL_PRICE;
  const cap = (paid > LEAST_CALLS ? paid : LEAST_CALLS) * (BigInt(limits.maxGasLamports) + DEPOSITS);
  return cap > MOST ? MOST : cap;
}
