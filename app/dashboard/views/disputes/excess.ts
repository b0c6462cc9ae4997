/** Where the part of an award beyond the price goes, in the same words everywhere. */
export const EXCESS =
  'What exceeds the price is kept for other callers of this agent; what they do not claim goes to the marketplace’s treasury.';
