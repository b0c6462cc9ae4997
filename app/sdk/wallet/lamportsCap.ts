/** Proposes how many lamports a key may take from the gas balance. Light, so that forms can show it at once. */

/** Deposits of one call, lamports; a cap counts them if the gas balance lends them. */
const DEPOSITS = 5_000_000n;
/** Price of the calls that a proposed cap is enough for, base units: 0.1 USDC. */
const USUAL_PRICE = 100_000n;
const LEAST_CALLS = 20n;
/** A thousand SOL: more is no cap. */
const MOST = 1_000_000_000_000n;

/**
 * A cap for one period: enough for as many calls of 0.1 USDC as the key's limit for the period pays for, and for at
 * least 20 calls.
 */
export function proposeMaxLamports(limits: { periodMax: bigint; maxGasLamports: number }): bigint {
  const paid = limits.periodMax / USUAL_PRICE;
  const cap = (paid > LEAST_CALLS ? paid : LEAST_CALLS) * (BigInt(limits.maxGasLamports) + DEPOSITS);
  return cap > MOST ? MOST : cap;
}
