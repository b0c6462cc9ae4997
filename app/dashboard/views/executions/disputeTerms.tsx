/** What a dispute costs and brings its caller, before it is opened. */
import { DECISION_SECONDS } from '../../../sdk/wire/choices.ts';
import { formatLamports, formatSpan, formatUnits } from '../../parts/values.tsx';
import { DISPUTE_LAPSE_SECONDS } from '../../wallet/programTerms.ts';
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
      <li>
        The marketplace’s admin decides, and should within {formatSpan(DECISION_SECONDS)}. If nobody has decided after{' '}
        {formatSpan(DISPUTE_LAPSE_SECONDS)}, anybody can end the dispute: you get the bond back, but not the price.
      </li>
      <li>
        You risk a bond of {formatLamports(bond)} to get back at most {formatUnits(most)}. Rejected: you lose the bond.
        Upheld: you get the bond back, and an award from the creator’s collateral. {awardPayment(true)}
      </li>
      <li>{depositReturn(deposit, depositSeconds)}</li>
    </ul>
  );
}
