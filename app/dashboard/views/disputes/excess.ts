/** Where the part of an award beyond the price goes, in the same words everywhere. */
export const EXCESS =
  'What exceeds the price is kept for callers of this agent whose later disputes its collateral cannot pay; what is left goes to the marketplace’s treasury.';
