import { formatSpan } from '../../parts/values.tsx';

/** Where the part of an award beyond the price goes, in the same words everywhere. `keptSeconds`: the program's longest span. */
export const excessWords = (keptSeconds: number): string =>
  `What exceeds the price pays later awards to callers of this agent, once its collateral is used up; they need not claim it. The rest can go to the marketplace’s treasury ${formatSpan(keptSeconds)} after the last upheld dispute, or when the agent’s collateral is returned.`;
