/** Running the checks: what is checked, by which node, and what came of it so far. */
import { useCallback, useRef, useState } from 'react';
import type { Check } from '../../../sdk/receipt/verify.ts';
import type { Receipt } from '../../../sdk/wire/receipt.ts';
import { explain, queryClient, rest } from '../../service.ts';
import { sessionQuery } from '../../wallet/session.ts';

/** What is to be checked: a document that somebody gave for a receipt, or an execution of which there is only the id. */
export type Subject =
  | { kind: 'receipt'; receipt: unknown; from: string }
  | { kind: 'execution'; executionId: string; from: string };

export interface Verification {
  subject: Subject;
  /** Null: no node was asked. */
  rpcUrl: string | null;
  checks: Check[];
  isRunning: boolean;
  /** A fault of the page; the checks themselves throw nothing. */
  error: string | null;
  /** ISO 8601, when it ended. */
  endedAt: string | null;
}

/** The receipt that the marketplace has for whoever is signed in; null where it has none to give. */
async function ownReceipt(executionId: string): Promise<Receipt | null> {
  const session = await queryClient.ensureQueryData(sessionQuery).catch(() => null);
  if (!session?.wallet) return null;
  return rest.getReceipt(executionId).catch(() => null);
}

/** By an id: with the receipt where the signed-in wallet can have it, else with the chain alone. */
export async function findSubject(executionId: string): Promise<Subject> {
  const receipt = await ownReceipt(executionId);
  return receipt
    ? { kind: 'receipt', receipt, from: 'The receipt is the marketplace’s, given to you as its caller.' }
    : { kind: 'execution', executionId, from: 'There is no receipt, so only what the chain has is checked.' };
}

/** Proofs of archived executions are public; nobody has to believe them. */
const findArchive = (executionId: string) => rest.getExecutionArchive(executionId).catch(() => null);

/** The newest verification; one that is overtaken by another tells nothing any more. */
export function useVerification() {
  const [current, setCurrent] = useState<Verification | null>(null);
  const turn = useRef(0);

  const verify = useCallback(async (find: Subject | Promise<Subject>, rpcUrl: string | null): Promise<void> => {
    turn.current += 1;
    const mine = turn.current;
    const change = (make: (before: Verification) => Partial<Verification>) =>
      setCurrent((before) => (before && turn.current === mine ? { ...before, ...make(before) } : before));
    const subject = await find;
    if (turn.current !== mine) return;
    setCurrent({ subject, rpcUrl, checks: [], isRunning: true, error: null, endedAt: null });
    try {
      const { verifyExecution, verifyReceipt } = await import('../../../sdk/receipt/verify.ts');
      const onCheck = (check: Check) => change(({ checks }) => ({ checks: [...checks, check] }));
      const options = { rpcUrl, onCheck, findArchive };
      if (subject.kind === 'receipt') await verifyReceipt(subject.receipt, options);
      else await verifyExecution(subject.executionId, options);
      change(() => ({ endedAt: new Date().toISOString() }));
    } catch (error) {
      change(() => ({ error: explain(error) }));
    } finally {
      change(() => ({ isRunning: false }));
    }
  }, []);

  return { current, verify };
}

/** What can be kept of it: everything that was compared, and with whom. */
export function reportOf({ subject, rpcUrl, checks, endedAt }: Verification): string {
  const about = subject.kind === 'receipt' ? { receipt: subject.receipt } : { execution_id: subject.executionId };
  return `${JSON.stringify({ verified_at: endedAt, rpc_url: rpcUrl, checks, ...about }, null, 2)}\n`;
}
