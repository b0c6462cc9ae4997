/** Pays for a call with the wallet itself: a transaction that opens the escrow, then a message that starts the work. */
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import type { RouteAnswer } from '../../../../sdk/client/client.ts';
import { parseUsdc } from '../../../../sdk/wire/usdc.ts';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import { SignDialog, type Signing } from '../../../parts/sign.tsx';
import { Trouble } from '../../../parts/trouble.tsx';
import { formatAmount, formatLamports, formatSpan, formatUnits, Id } from '../../../parts/values.tsx';
import { useShared } from '../../../wallet/wallets.ts';
import { depositOf, feesText, spendOf, type WalletCost, walletCostQuery } from './cost.ts';
import type { Opened } from './kept.ts';
import { depositTexts, runFree, UNREAD } from './money.tsx';
import type { Inputs } from './useRun.ts';

interface PayByWalletProps {
  /** Signs without a click, as soon as the balance is known. */
  isAtOnce: boolean;
  onClose(): void;
  agent: AgentFull;
  inputs: Inputs;
  /** An open escrow whose work has not started yet; null before the payment. */
  opened: Opened | null;
  onOpened(opened: Opened): void;
  /** Called when the message is signed. From then on, the visitor may leave. */
  onStarted(): void;
  onAnswer(answer: RouteAnswer<'executeAgent'>): void;
  /** Called with each streamed part of the output, which is not verified. */
  onDelta(text: string): void;
  onError(error: unknown): void;
}

export function PayByWallet(props: PayByWalletProps) {
  const { isAtOnce, onClose, agent, inputs, opened, onOpened, onDelta } = props;
  const { data: cost, error, refetch } = useQuery(walletCostQuery);
  const isUnread = !cost && error !== null;
  const isFree = useShared();
  // A retry after a refused message must not pay again.
  const present = useRef<Opened | null>(null);
  present.current = opened;

  const price = parseUsdc(agent.price_per_call_usdc);
  const seconds = inputs.timeoutSeconds ?? agent.timeout_seconds;

  async function work({ marketplace, openByWallet, startByWallet, PublicKey, wallet, say, onProgress }: Signing) {
    const { requestHash, parseUuid } = await import('../../../../sdk/receipt/receipt.ts');
    if (!present.current) {
      const paid = await openByWallet(marketplace, {
        wallet,
        agentId: new PublicKey(agent.agent_id),
        requestHash: requestHash(inputs.task, inputs.parameters),
        maxPrice: price,
        timeoutSeconds: seconds,
        onProgress,
      });
      present.current = { executionId: paid.execution_id, signature: paid.signature };
      onOpened(present.current);
    }
    const executionId = parseUuid(present.current.executionId);
    if (!executionId) throw new Error(`${present.current.executionId} is not the id of a call.`);
    say('The price is in escrow. Starting the work, which spends nothing');
    await untilStarted(props, (onSigned) =>
      startByWallet(marketplace, {
        wallet: {
          ...wallet,
          async signMessage(message) {
            const signature = await wallet.signMessage(message);
            onSigned();
            return signature;
          },
        },
        executionId,
        task: inputs.task,
        parameters: inputs.parameters,
        onDelta,
      }),
    );
  }

  return (
    <SignDialog
      title={opened ? `Start ${agent.name}` : `Run ${agent.name}`}
      about={
        opened
          ? 'The price is in escrow already. Your wallet signs one message to start the work; it spends nothing.'
          : `${isFree ? 'The shared test wallet' : 'Your wallet'} signs twice: the payment into escrow, and a message that starts the call. ${isFree ? 'It pays' : 'You pay'} once.`
      }
      rows={
        opened ? [['Call', <Id key="id" value={opened.executionId} />]] : paymentRows(agent, seconds, cost, isUnread)
      }
      {...(!opened && !isFree && { pays: paysOf(price, cost) })}
      doing={opened ? 'Starting the work' : `Putting ${formatAmount(agent.price_per_call_usdc)} into escrow`}
      confirm={opened ? 'Sign and start' : isFree ? runFree(agent) : `Pay ${formatAmount(agent.price_per_call_usdc)}`}
      spends={
        opened
          ? undefined
          : { usdc: price, ...(cost && { lamports: spendOf(cost) }), instead: 'pay by the API key of another wallet' }
      }
      // Starting a paid call spends nothing more.
      disabled={!opened && !cost}
      whyNot={isUnread ? null : 'Reading the network fees …'}
      isAtOnce={isAtOnce}
      work={work}
      onClose={onClose}
    >
      {!opened && isUnread && <Trouble error={error} what="The network fees" onRetry={refetch} />}
    </SignDialog>
  );
}

function paysOf(price: bigint, cost: WalletCost | undefined) {
  const usdc = formatUnits(price);
  if (!cost) return { sum: `${usdc} and network fees` };
  return {
    sum: `${usdc} and about ${formatLamports(spendOf(cost))}`,
    kept: `${formatLamports(depositOf(cost))} of it is a deposit that comes back`,
  };
}

/** The facts about the payment into escrow. */
function paymentRows(agent: AgentFull, seconds: number, cost: WalletCost | undefined, isUnread: boolean) {
  const unknown = isUnread ? UNREAD : 'Reading …';
  const deposit = cost && depositTexts(cost);
  return [
    ['Into escrow', formatAmount(agent.price_per_call_usdc)],
    ['Without a result', `Refunded in full, after ${formatSpan(seconds)} at the latest`],
    ['Network fees', cost ? feesText(cost) : unknown],
    ['Refundable deposit', deposit ? `${deposit.deposit}: ${deposit.back}` : unknown],
  ] as const;
}

/**
 * Resolves when the message is signed. The page then waits for the answer, which may take as long as the agent works.
 */
function untilStarted(
  { onStarted, onAnswer, onError }: Pick<PayByWalletProps, 'onStarted' | 'onAnswer' | 'onError'>,
  start: (onSigned: () => void) => Promise<RouteAnswer<'executeAgent'>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isSigned = false;
    const answer = start(() => {
      isSigned = true;
      onStarted();
      resolve();
    });
    answer.then(onAnswer, (error: unknown) => (isSigned ? onError(error) : reject(error as Error)));
  });
}
