/** The head of a dispute that has ended: who got what, and why. */
import { disputeAddress, recordAddress } from '../../../sdk/receipt/onChain.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Card, Facts } from '../../parts/ui.tsx';
import { Id } from '../../parts/values.tsx';
import { idBytes } from '../executions/record.ts';
import { DepositState } from './depositState.tsx';
import { endRows, endWords, Reason, WithoutEvidence } from './ended.tsx';
import type { Reader } from './outcomes.tsx';

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
