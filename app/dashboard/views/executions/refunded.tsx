/** A refund as the chain shows it: its amount and its transaction. */

import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ExecutionFacts, Refund } from '../../../sdk/receipt/verify.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import type { ExecutionFull } from '../../../sdk/wire/wire.ts';
import { formatAmount, Id } from '../../parts/values.tsx';
import { configQuery, queryClient } from '../../service.ts';

/** True if the money is the caller's again. */
export const isPaidBack = (refund: ExecutionFull['refund'] | 'pending'): refund is 'done' | 'handed_over' =>
  refund === 'done' || refund === 'handed_over';

export const HANDED_OVER =
  'Its USDC account could not receive it for 7 days, so the token account of the escrow now belongs to that wallet.';

/** Until the node shows it. */
const AGAIN_MS = 2_000;

const refundQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['refund', executionId],
    queryFn: async (): Promise<Refund | null> => {
      const { rpc_url: rpcUrl } = await queryClient.ensureQueryData(configQuery);
      const { verifyExecution } = await import('../../../sdk/receipt/verify.ts');
      const found: ExecutionFacts[] = [];
      await verifyExecution(executionId, { rpcUrl, onFacts: (facts) => void found.push(facts) });
      return found[0]?.refund ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state: { data } }) => (data === null ? AGAIN_MS : false),
  });

/** The refund of an execution; undefined while it is read, null while the node does not show it. */
export function useRefund(executionId: string | null, isRefunded: boolean): Refund | null | undefined {
  const { data } = useQuery({ ...refundQuery(executionId ?? ''), enabled: isRefunded && executionId !== null });
  return data;
}

/** `Refunded 0.02 USDC`, and `Refunded` until the amount is read. */
export const refundedText = (refund: Refund | null | undefined): string =>
  refund ? `Refunded ${formatAmount(toUsdc(refund.amount))}` : 'Refunded';

export function RefundTransaction({ refund }: { refund: Refund | null | undefined }) {
  return refund ? <Id value={refund.transaction} kind="tx" /> : <span className="text-faint">Reading …</span>;
}
