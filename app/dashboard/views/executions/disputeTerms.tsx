/** What a dispute costs and brings its caller, before it is opened. */
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';

interface DisputeTermsProps {
  /** Lamports. */
  bond: bigint;
  /** Refundable deposit of the dispute's account, lamports. */
  deposit: bigint;
  /** The time from the dispute's end until the deposit can come back. */
  depositSeconds: number;
  /** The most that the caller can get, base units. */
  most: bigint;
}

export function DisputeTerms({ bond, deposit, depositSeconds, most }: DisputeTermsProps) {
  return (
    <>
      You pay a bond of {formatLamports(bond)}, which you lose if the dispute is rejected, and a deposit of{' '}
      {formatLamports(deposit)}, which comes back {formatSpan(depositSeconds)} after it ends. If it is upheld, you get
      up to {formatAmount(toUsdc(most))} from the creator’s collateral, and the bond back.
    </>
  );
}
