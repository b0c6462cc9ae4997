/** Where the part of an award beyond the price goes, in the same words in the terms and in a dispute. */
import { formatSpan } from '../../parts/values.tsx';

export const EXCESS =
  'What exceeds the price is kept for callers of this agent whose later disputes its collateral cannot pay; what is left goes to the marketplace’s treasury.';

/** When it can go there. `keptSeconds`: the program's longest span. */
export const excessEnd = (keptSeconds: number): string =>
  `The treasury can get what is left above the price ${formatSpan(keptSeconds, { units: 3 })} after the last upheld dispute, once none is open, or when the collateral is returned.`;
