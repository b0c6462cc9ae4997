/** The gas that page and command line propose with a wallet's first key. Small, so that forms can show it at once. */

/** Lamports: enough for about 200 calls. */
export const FIRST_GAS = 4_500_000n;
