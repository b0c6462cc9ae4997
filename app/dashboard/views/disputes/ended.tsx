/** How a dispute ended, in the same words and rows on its page and its card. */
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { formatAmount, formatLamports, Time } from '../../parts/values.tsx';
import type { Reader } from './outcomes.tsx';

/** What went out of the bond with the end, lamports; null while it is open, or if the chain does not show it any more. */
export const bondPaidOut = ({ outcome, bond_paid_lamports, bond_lamports }: DisputeSummary): number | null =>
  outcome === 'open' || bond_paid_lamports === null ? null : bond_paid_lamports - bond_lamports;

/** Who got the bond and the price. The award is among the rows. */
export function endWords(dispute: DisputeSummary, reader: Reader): string {
  const { outcome, price_usdc } = dispute;
  const caller = reader === 'caller' ? 'You' : 'The caller';
  const lamports = bondPaidOut(dispute);
  const bond = lamports === null ? 'bond' : `bond of ${formatLamports(BigInt(lamports))}`;
  if (outcome === 'upheld') {
    return `The admin upheld it. ${caller} got the ${bond} back, and the award comes from the collateral of the agent. The call counts as failed.`;
  }
  const paid = `The ${formatAmount(price_usdc)} stay paid, and the collateral stays whole.`;
  return outcome === 'rejected'
    ? `The admin rejected it. ${reader === 'caller' ? 'Your' : 'The caller’s'} ${bond} went to ${reader === 'creator' ? 'you' : 'the creator'}. ${paid}`
    : `Nobody decided it in time. ${caller} got the ${bond} back. ${paid}`;
}

export function endRows(dispute: DisputeSummary, reader: Reader): (readonly [ReactNode, ReactNode] | false)[] {
  const isUpheld = dispute.outcome === 'upheld';
  const caller = reader === 'caller' ? 'you' : 'the caller';
  return [
    isUpheld && [`Awarded to ${caller}`, formatAmount(dispute.amount_to_caller_usdc)],
    isUpheld && [
      reader === 'creator' ? 'Taken from your collateral' : 'Taken from the creator',
      formatAmount(dispute.amount_slashed_usdc),
    ],
    dispute.owed_usdc > 0 && [`Still owed to ${caller}`, formatAmount(dispute.owed_usdc)],
    dispute.resolved_at !== null && ['Ended', <Time key="resolved" at={dispute.resolved_at} />],
  ];
}

/** Shown if the admin decided and could not read the evidence. */
export function WithoutEvidence({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  const { outcome, has_evidence, evidence_uri } = dispute;
  if (has_evidence || evidence_uri || (outcome !== 'upheld' && outcome !== 'rejected')) return null;
  return (
    <p className="max-w-3xl text-sm text-warn">
      Decided without {reader === 'caller' ? 'your' : 'the caller’s'} evidence. Only its hash reached the chain; the
      text was never uploaded here, so the admin could not read it. The decision is final.
    </p>
  );
}
