/** The head of a dispute that has ended: who got what, and why. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { Card, Facts } from '../../parts/ui.tsx';
import { formatAmount, Id, Time } from '../../parts/values.tsx';
import { DepositState } from './depositState.tsx';
import { endingQuery } from './ending.ts';
import type { Reader } from './outcomes.tsx';

export function Decision({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  const caller = reader === 'caller' ? 'You' : 'The caller';
  const creator = reader === 'creator' ? 'you' : 'the creator';
  const isUpheld = dispute.outcome === 'upheld';
  const { data: ending } = useQuery(endingQuery(dispute.execution_id));
  const bond = ending ? `bond of ${formatSol(ending.bond)} SOL` : 'bond';
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">The decision</h2>
      <p className="max-w-3xl text-sm">
        {outcomeWords(dispute, { caller, creator, bond })} {reader === 'caller' && <DepositState dispute={dispute} />}
      </p>
      {isWithoutEvidence(dispute) && (
        <p className="max-w-3xl text-sm text-warn">
          Decided without {reader === 'caller' ? 'your' : 'the caller’s'} evidence: it was not uploaded.
        </p>
      )}
      <Facts
        rows={[
          isUpheld && [
            reader === 'caller' ? 'Awarded to you' : 'To the caller',
            formatAmount(dispute.amount_to_caller_usdc),
          ],
          isUpheld && [
            reader === 'creator' ? 'Taken from your collateral' : 'Taken from the creator',
            formatAmount(dispute.amount_slashed_usdc),
          ],
          dispute.owed_usdc > 0 && ['Still owed', formatAmount(dispute.owed_usdc)],
          dispute.resolved_at !== null && ['Ended', <Time key="resolved" at={dispute.resolved_at} />],
          dispute.outcome !== 'lapsed' && ['Reason', reasonOf(dispute)],
          ending != null && ['Transaction', <Id key="transaction" value={ending.signature} kind="tx" />],
        ]}
      />
    </Card>
  );
}

/** True if the admin decided and could not read the evidence. */
export const isWithoutEvidence = ({ outcome, has_evidence, evidence_uri }: DisputeSummary): boolean =>
  (outcome === 'upheld' || outcome === 'rejected') && !has_evidence && !evidence_uri;

interface Words {
  caller: string;
  creator: string;
  bond: string;
}

function outcomeWords({ outcome, price_usdc }: DisputeSummary, { caller, creator, bond }: Words): string {
  if (outcome === 'upheld') {
    return `The admin upheld it. ${caller} got the ${bond} back, and the award comes from the collateral of the agent. The call counts as failed.`;
  }
  const paid = `The ${formatAmount(price_usdc)} stay paid, and the collateral stays whole.`;
  return outcome === 'rejected'
    ? `The admin rejected it. ${caller === 'You' ? 'Your' : 'The caller’s'} ${bond} went to ${creator}. ${paid}`
    : `Nobody decided it in time. ${caller} got the ${bond} back. ${paid}`;
}

function reasonOf({ reason, reason_hash }: DisputeSummary): ReactNode {
  if (reason) return <span className="whitespace-pre-wrap">{reason}</span>;
  return reason_hash ? <Id value={reason_hash} /> : 'no reason given';
}
