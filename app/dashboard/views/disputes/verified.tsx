/** The disputed execution's receipt, checked again in this browser. */
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { Button } from '../../parts/ui.tsx';
import { configQuery } from '../../service.ts';
import { VerificationResult } from '../verify/checks.tsx';
import { type Subject, useVerification } from '../verify/verification.ts';
import { verdictOf } from '../verify/words.ts';
import { Fold } from './fold.tsx';

function subjectOf({ receipt, execution }: ProcedureOutput<'disputes.case'>): Subject {
  return receipt
    ? { kind: 'receipt', receipt, from: 'the receipt that the caller can download' }
    : {
        kind: 'execution',
        executionId: execution.execution_id,
        from: 'the call on the chain, because there is no receipt',
      };
}

interface VerifiedProps {
  found: ProcedureOutput<'disputes.case'>;
  /** The reader is the agent's creator. */
  isCreator: boolean;
}

export function Verified({ found, isCreator }: VerifiedProps) {
  const { data: config } = useQuery(configQuery);
  const { current, verify } = useVerification();
  const rpcUrl = config?.rpc_url;
  // Runs once automatically, then only on request. The signed data never change, so a new read needs no new check.
  const isBegun = current !== null;
  useEffect(() => {
    if (rpcUrl && !isBegun) void verify(subjectOf(found), rpcUrl);
  }, [rpcUrl, isBegun]);
  const isEnded = current && !current.isRunning && !current.error;
  const verdict = isEnded ? verdictOf(current.checks, current.facts, isCreator) : null;
  return (
    <Fold
      title="Verification"
      gist={current?.error ? 'interrupted' : (verdict?.title ?? 'Checking the receipt …')}
      {...(verdict && verdict.tone !== 'warn' && { mark: verdict.tone === 'good' ? 'passed' : 'failed' })}
      open={verdict?.tone === 'bad' || (current !== null && current.error !== null)}
    >
      <div>
        <Button
          small
          disabled={!rpcUrl || current?.isRunning}
          onClick={() => rpcUrl && void verify(subjectOf(found), rpcUrl)}
        >
          Verify again
        </Button>
      </div>
      {current && <VerificationResult verification={current} isCreator={isCreator} />}
    </Fold>
  );
}
