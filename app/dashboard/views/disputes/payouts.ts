/** When a dispute's deposit comes back, and how an award is paid, in the same words everywhere. */
import { formatLamports, formatSpan } from '../../parts/values.tsx';

/** The marketplace closes the dispute's account at that time, which returns the deposit. */
export const depositReturn = (deposit: bigint, seconds: number, whose: 'Your' | 'The caller’s' = 'Your'): string =>
  `${whose} deposit of ${formatLamports(deposit)} comes back by itself ${formatSpan(seconds)} after the dispute ends, with every outcome; an unpaid award delays it.`;

/** The decision's own transaction pays the award. */
export const awardPayment = (isCaller: boolean): string =>
  isCaller
    ? 'An award is paid to your USDC account with the decision. If that account cannot receive it, you can claim it at any time.'
    : 'An award is paid to the caller’s USDC account with the decision. If that account cannot receive it, the caller can claim it at any time.';
