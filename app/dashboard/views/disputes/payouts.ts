/** Where the money of a dispute goes, in the same words everywhere: its deposit, an award, and what exceeds the price. */
import { formatLamports, formatSpan } from '../../parts/values.tsx';
import { ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';

/** The marketplace closes the dispute's account at that time, which returns the deposit. */
export const depositReturn = (deposit: bigint, whose: 'Your' | 'The caller’s' = 'Your'): string =>
  `${whose} deposit of ${formatLamports(deposit)} comes back by itself ${formatSpan(ENDED_DISPUTE_SECONDS)} after the dispute ends, with every outcome; an unpaid award delays it.`;

/** The decision's own transaction pays the award. */
export const awardPayment = (isCaller: boolean): string =>
  isCaller
    ? 'An award is paid to your USDC account with the decision. If that account cannot receive it, you can claim it at any time.'
    : 'An award is paid to the caller’s USDC account with the decision. If that account cannot receive it, the caller can claim it at any time.';

export const EXCESS =
  'The amount above the price is kept for callers of this agent whose later disputes its collateral cannot pay; the rest goes to the marketplace’s treasury.';

/** When it can go there. `keptSeconds`: the program's longest span. */
export const excessEnd = (keptSeconds: number): string =>
  `The treasury can get the rest ${formatSpan(keptSeconds, { units: 3 })} after the last upheld dispute, once none is open, or when the collateral is returned.`;
