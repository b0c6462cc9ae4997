/** How a dispute ended, in the same words and rows on its page and its card. */
import type { ReactNode } from 'react';
import { disputeAddress, recordAddress } from '../../../sdk/receipt/onChain.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Anchor } from '../../parts/links.tsx';
import { Card, Facts, Note } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, Id, Time } from '../../parts/values.tsx';
import { idBytes } from '../executions/record.ts';
import { DepositState } from './deposit.tsx';
import type { Reader } from './outcomes.tsx';

/** What went out of the bond with the end, lamports; null while it is open, or if the chain does not show it any more. */
export const bondPaidOut = ({ outcome, bond_paid_lamports, bond_lamports }: DisputeSummary): number | null =>
  outcome === 'open' || bond_paid_lamports === null ? null : bond_paid_lamports - bond_lamports;

/** Who got the bond and the price. The award is among the rows. */
export function endWords(dispute: DisputeSummary, reader: Reader): string {
  const { outcome, price_usdc } = dispute;
  const caller = reader === 'caller' ? 'You' : 'The caller';
  const lamports = bondPaidOut(dispute);
  const bond = lamports === null ? 'bond' : `bond of ${formatLamports(lamports)}`;
  if (outcome === 'upheld') {
    return `The admin upheld it. ${caller} got the ${bond} back, and the award comes from the collateral of the agent. The call counts as failed.`;
  }
  const paid = `The price of ${formatAmount(price_usdc)} stays paid${reader === 'caller' ? '' : ', and the collateral stays whole'}.`;
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

/** The admin's reason, or its hash. */
export function Reason({ dispute: { outcome, reason, reason_hash } }: { dispute: DisputeSummary }) {
  if (outcome === 'open' || outcome === 'lapsed') return null;
  return (
    <blockquote className="border-l-2 border-strong pl-4 text-sm whitespace-pre-wrap">
      <p className="mb-1 text-faint">The admin’s reason</p>
      {reason ?? (reason_hash ? <Id value={reason_hash} /> : 'no reason given')}
    </blockquote>
  );
}

/** True if the admin decided and could not read the evidence. */
export const isUninformed = ({ outcome, has_evidence, evidence_uri }: DisputeSummary): boolean =>
  !has_evidence && !evidence_uri && (outcome === 'upheld' || outcome === 'rejected');

export function WithoutEvidence({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  if (!isUninformed(dispute)) return null;
  const words = (
    <>
      Decided without {reader === 'caller' ? 'your' : 'the caller’s'} evidence: only its hash was sent, so the admin
      could not read it. The decision is final.{' '}
      {reader === 'caller' && <Anchor href="/docs#disputes">How a program sends evidence</Anchor>}
    </>
  );
  // It is no fault of the creator's.
  return reader === 'creator' ? (
    <p className="max-w-3xl text-sm text-faint">{words}</p>
  ) : (
    <Note tone="warn">{words}</Note>
  );
}

export function Decision({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  const account = disputeAddress(recordAddress(idBytes(dispute.execution_id)));
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">The decision</h2>
      <p className="max-w-3xl text-sm">
        {endWords(dispute, reader)} {reader === 'caller' && <DepositState dispute={dispute} />}
      </p>
      <WithoutEvidence dispute={dispute} reader={reader} />
      <Reason dispute={dispute} />
      <Facts
        rows={[
          ...endRows(dispute, reader),
          ['Account of the dispute', <Id key="account" value={account} kind="address" />],
        ]}
      />
    </Card>
  );
}
