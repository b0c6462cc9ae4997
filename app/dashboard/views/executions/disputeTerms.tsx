/** What a dispute costs and brings its caller, before it is opened. */
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount, formatLamports } from '../../parts/values.tsx';
import { awardPayment, depositReturn } from '../disputes/payouts.ts';

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
    <ul className="mt-2 grid list-disc gap-1.5 pl-4">
      <li>You pay a bond of {formatLamports(bond)}, which you lose if the dispute is rejected, and a deposit.</li>
      <li>
        If it is upheld, you get up to {formatAmount(toUsdc(most))} from the creator’s collateral, and the bond back.{' '}
        {awardPayment(true)}
      </li>
      <li>{depositReturn(deposit, depositSeconds)}</li>
    </ul>
  );
}
