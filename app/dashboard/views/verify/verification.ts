/** Runs the checks, and holds their subject, the node, and the results so far. */
import { useCallback, useRef, useState } from 'react';
import type { Check, ExecutionFacts } from '../../../sdk/receipt/verify.ts';
import { EXECUTION_ID } from '../../../sdk/wire/choices.ts';
import type { Receipt } from '../../../sdk/wire/receipt.ts';
import { explain, queryClient, request } from '../../service.ts';
import { sessionQuery } from '../../wallet/session.ts';

/**
 * The subject: a document that should be a receipt, of this execution if one was asked for, or only an execution.
 * `from`: what is checked, as the object of a sentence.
 */
export type Subject =
  | { kind: 'receipt'; receipt: unknown; executionId?: string | undefined; from: string }
  | { kind: 'execution'; executionId: string; from: string };

/** The id of the call; null for a receipt that has none. */
export function idOf(subject: Subject): string | null {
  if (subject.kind === 'execution') return subject.executionId;
  const { execution_id } = (subject.receipt ?? {}) as { execution_id?: unknown };
  return typeof execution_id === 'string' && EXECUTION_ID.test(execution_id) ? execution_id : null;
}

export interface Verification {
  subject: Subject;
  /** Null: no node was asked. */
  rpcUrl: string | null;
  checks: Check[];
  /** What the node shows of the execution; null before it is read, and without a node. */
  facts: ExecutionFacts | null;
  isRunning: boolean;
  /** A fault of the page; the checks themselves never throw. */
  error: string | null;
  /** ISO 8601 time of its end. */
  endedAt: string | null;
}

/** The marketplace's receipt for the signed-in wallet; null if there is none. */
async function ownReceipt(executionId: string): Promise<Receipt | null> {
  const session = await queryClient.ensureQueryData(sessionQuery).catch(() => null);
  if (!session?.wallet) return null;
  return request('getExecutionReceipt', { execution_id: executionId }).catch(() => null);
}

/** Finds the subject of an id: the receipt if the signed-in wallet can have it, else only the execution. */
export async function findSubject(executionId: string): Promise<Subject> {
  const receipt = await ownReceipt(executionId);
  return receipt
    ? {
        kind: 'receipt',
        receipt,
        executionId,
        from: 'your receipt, read from the marketplace,',
      }
    : { kind: 'execution', executionId, from: 'only the data on the chain, without a receipt,' };
}

/** Proofs of archived executions are public and need not be trusted. */
const findArchive = (executionId: string) =>
  request('getExecutionArchive', { execution_id: executionId }).catch(() => null);

/** The latest verification. Results of an older one that is still running are ignored. */
export function useVerification() {
  const [current, setCurrent] = useState<Verification | null>(null);
  const turn = useRef(0);

  /** `onFound`: called with the subject, unless another verification has begun meanwhile. */
  const verify = useCallback(
    async (
      find: Subject | Promise<Subject>,
      rpcUrl: string | null,
      onFound?: (subject: Subject) => void,
    ): Promise<void> => {
      turn.current += 1;
      const mine = turn.current;
      const change = (make: (before: Verification) => Partial<Verification>) =>
        setCurrent((before) => (before && turn.current === mine ? { ...before, ...make(before) } : before));
      const subject = await find;
      if (turn.current !== mine) return;
      setCurrent({ subject, rpcUrl, checks: [], facts: null, isRunning: true, error: null, endedAt: null });
      onFound?.(subject);
      try {
        const { verifyExecution, verifyReceipt } = await import('../../../sdk/receipt/verify.ts');
        const onCheck = (check: Check) => change(({ checks }) => ({ checks: [...checks, check] }));
        const onFacts = (facts: ExecutionFacts) => change(() => ({ facts }));
        const options = { rpcUrl, onCheck, onFacts, findArchive, executionId: subject.executionId };
        if (subject.kind === 'receipt') await verifyReceipt(subject.receipt, options);
        else await verifyExecution(subject.executionId, options);
        change(() => ({ endedAt: new Date().toISOString() }));
      } catch (error) {
        change(() => ({ error: explain(error) }));
      } finally {
        change(() => ({ isRunning: false }));
      }
    },
    [],
  );

  /** Removes the shown result, and ignores a running check. */
  const clear = useCallback(() => {
    turn.current += 1;
    setCurrent(null);
  }, []);

  return { current, verify, clear };
}

/** A report to keep: everything that was compared, and with which node. */
export function reportOf({ subject, rpcUrl, checks, endedAt }: Verification): string {
  const about = subject.kind === 'receipt' ? { receipt: subject.receipt } : { execution_id: subject.executionId };
  return `${JSON.stringify({ verified_at: endedAt, rpc_url: rpcUrl, checks, ...about }, null, 2)}\n`;
}
