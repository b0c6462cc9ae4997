/** A refund: when anybody can trigger it, and as the chain shows it, with its amount and its transaction. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ExecutionFacts, Refund } from '../../../sdk/receipt/verify.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import type { ExecutionFull } from '../../../sdk/wire/wire.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Note } from '../../parts/ui.tsx';
import { formatAmount, formatSpan, Id, Time } from '../../parts/values.tsx';
import { configQuery, queryClient } from '../../service.ts';
import { openChain } from '../../wallet/chain.ts';
import { REFUND_TEXTS, refundedWords } from './outcome.ts';
import { idBytes, type ShownRecord } from './record.ts';

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

export function RefundState({ execution, record }: { execution: ExecutionFull; record: ShownRecord }) {
  const now = useChainClock();
  if (!record.refund_at) return null;
  const left = now === undefined ? null : (Date.parse(record.refund_at) - now) / 1_000;
  const mayRefund = left !== null && left <= 0;
  const price = formatAmount(Number(record.price_usdc));
  const { status, refund: state } = execution;
  const waits = status === 'failed' && state && state !== 'done' ? REFUND_TEXTS[state] : null;
  return (
    <Note
      tone={mayRefund ? 'warn' : 'plain'}
      title={mayRefund ? 'The price can be sent back now' : 'If no result comes'}
    >
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p className="max-w-xl tabular-nums">
          {waits && <>{waits} </>}
          {mayRefund ? (
            <>No signed result has settled it in time, so anybody can send the {price} back to the caller.</>
          ) : (
            <>
              The marketplace sends {price} back. If it does not, anybody can from <Time at={record.refund_at} /> on
              {left !== null && <>, in {formatSpan(left)}</>}.
            </>
          )}
        </p>
        {mayRefund && (
          <SignButton
            button="Refund now"
            kind="primary"
            small
            title="Send the price back"
            about="The escrow goes back to the wallet that paid it, no matter which wallet signs."
            rows={[
              ['Amount', price],
              ['To the wallet', record.caller],
            ]}
            doing={`Sending ${price} back to the caller`}
            confirm="Sign the refund"
            work={({ marketplace, wallet, refund }) =>
              refund(marketplace, { wallet, executionId: idBytes(execution.execution_id) })
            }
            done={({ amount_usdc }) => ['Refunded', `${amount_usdc} USDC are back with the caller.`]}
          />
        )}
      </div>
    </Note>
  );
}
