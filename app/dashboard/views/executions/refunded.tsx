/** A refund as the chain shows it, with its amount and its transaction. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ExecutionFacts, Refund } from '../../../sdk/receipt/verify.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import type { ExecutionFull } from '../../../sdk/wire/wire.ts';
import { Id } from '../../parts/values.tsx';
import { configQuery, queryClient } from '../../service.ts';
import { openChain } from '../../wallet/chain.ts';
import { refundedWords } from './outcome.ts';

/** Poll interval until the node shows the refund, ms. */
const AGAIN_MS = 2_000;

/** `isOfDeposit`: true if it returned a payment that opened no execution. */
export type ShownRefund = Refund & { isOfDeposit?: true };

type Refunded = Pick<ExecutionFull, 'execution_id' | 'deposit'>;

/** Number of transactions to search, because later ones of others may also name the deposit's address. */
const MOST_TRANSACTIONS = 20;

/** The return of a deposit, to its caller or unclaimed; null if an execution was opened from it. */
async function readReturn(deposit: string): Promise<ShownRefund | null> {
  const { marketplace, program, PublicKey } = await openChain();
  const { connection } = marketplace;
  const last = await connection.getSignaturesForAddress(
    new PublicKey(deposit),
    { limit: MOST_TRANSACTIONS },
    'finalized',
  );
  for (const { signature, err } of last) {
    const found = err ? null : await program.receiveTransaction(connection, signature);
    const { events } = program.readEvents(found?.logs ?? [], program.PROGRAM_ID, found?.calls(program.PROGRAM_ID));
    for (const { name, data } of events) {
      if (name !== 'DepositRefunded' || data.deposit.toBase58() !== deposit) continue;
      return { amount: data.amount, transaction: signature, at: Number(data.refundedAt), isOfDeposit: true };
    }
  }
  return null;
}

const refundQuery = ({ execution_id: executionId, deposit }: Refunded) =>
  queryOptions({
    queryKey: ['refund', executionId],
    queryFn: async (): Promise<ShownRefund | null> => {
      const returned = deposit && (await readReturn(deposit));
      if (returned) return returned;
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
export function useRefund(execution: Refunded | null, isRefunded: boolean): ShownRefund | null | undefined {
  const asked = execution ?? { execution_id: '', deposit: null };
  const { data } = useQuery({ ...refundQuery(asked), enabled: isRefunded && execution !== null });
  return data;
}

export const refundedText = (refund: Refund | null | undefined): string =>
  refundedWords(refund && toUsdc(refund.amount));

export function RefundTransaction({ refund }: { refund: Refund | null | undefined }) {
  return refund ? <Id value={refund.transaction} kind="tx" /> : <span className="text-faint">Reading …</span>;
}
