/** The disputed execution's receipt, checked again in this browser. */
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { Button, Card } from '../../parts/ui.tsx';
import { configQuery } from '../../service.ts';
import { VerificationResult } from '../verify/checks.tsx';
import { type Subject, useVerification } from '../verify/verification.ts';

function subjectOf({ receipt, execution }: ProcedureOutput<'disputes.case'>): Subject {
  return receipt
    ? { kind: 'receipt', receipt, from: 'The receipt is the one that the caller can download.' }
    : {
        kind: 'execution',
        executionId: execution.execution_id,
        from: 'There is no receipt, so only the data on the chain are checked.',
      };
}

export function Verified({ found }: { found: ProcedureOutput<'disputes.case'> }) {
  const { data: config } = useQuery(configQuery);
  const { current, verify } = useVerification();
  const rpcUrl = config?.rpc_url;
  // Runs once automatically, then only on request. The signed data never change, so a new read needs no new check.
  const isBegun = current !== null;
  useEffect(() => {
    if (rpcUrl && !isBegun) void verify(subjectOf(found), rpcUrl);
  }, [rpcUrl, isBegun]);
  return (
    <Card className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="font-semibold">Verification</h2>
        <Button
          small
          disabled={!rpcUrl || current?.isRunning}
          onClick={() => rpcUrl && void verify(subjectOf(found), rpcUrl)}
        >
          Verify again
        </Button>
      </div>
      {current && <VerificationResult verification={current} name={found.execution.execution_id} />}
    </Card>
  );
}
