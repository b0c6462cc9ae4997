/** Timeline of a call and its money, with the current step. */
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { type Step, StepList } from '../../parts/stepList.tsx';
import { formatAmount } from '../../parts/values.tsx';
import { type CallParts, type Execution, isBeingOpened, isBeingReturned } from './facts.tsx';
import { outcomeOfDispute, REFUND_TEXTS } from './outcome.ts';
import { isUnderWay } from './polling.ts';
import { RefundTransaction, refundedText, type ShownRefund, useRefund } from './refunded.tsx';

export function Timeline(props: CallParts) {
  const refunded = useRefund(props.execution, props.execution.refund === 'done');
  return <StepList steps={stepsOf(props, refunded)} />;
}

function stepsOf({ execution, dispute, record }: CallParts, refunded: ShownRefund | null | undefined): Step[] {
  const { status, refund } = execution;
  if (isBeingReturned(execution)) return [DEPOSITED, returning(execution)];
  if (refunded?.isOfDeposit) return [DEPOSITED, paid(execution, refunded)];
  if (isBeingOpened(execution, record)) {
    return [{ name: 'Being opened', about: 'Solana has not confirmed it yet.', state: 'active' }];
  }
  const price = execution.cost_usdc || execution.refunded_usdc;
  const isUndecided = refund === null && isUnderWay(execution);
  return [
    {
      name: 'Price put into escrow',
      at: execution.initiated_at,
      about: isUndecided
        ? 'A signed result releases it; otherwise it returns to you.'
        : price !== null && price > 0 && `${formatAmount(price)} locked on Solana.`,
      state: 'done',
    },
    ...answered(execution),
    ...(status === 'running' || status === 'pending' ? [] : [paid(execution, refunded)]),
    ...(dispute ? disputed(dispute) : []),
  ];
}

/** Nothing for a paid call: when its result came is not kept. */
function answered({ status, refund }: Execution): Step[] {
  switch (status) {
    case 'running':
      return refund === 'pending'
        ? [{ name: 'The refund is on its way', state: 'active' }]
        : [
            {
              name: 'The agent is working',
              about: 'The creator’s signature over its result is checked, then the creator is paid.',
              state: 'active',
            },
          ];
    case 'pending':
      return [{ name: 'Not started yet', state: 'active' }];
    case 'failed':
      return [{ name: 'No valid result', state: 'failed' }];
    default:
      return [];
  }
}

/** A deposit from which no call was opened. */
const DEPOSITED: Step = {
  name: 'Paid into a deposit',
  about: 'No call was opened from it, so the payment goes back to the wallet that paid.',
  state: 'done',
};

function returning({ refund }: Execution): Step {
  const waits = refund === 'waiting' || refund === 'unclaimed' ? REFUND_TEXTS[refund] : null;
  return {
    name: 'Being returned',
    about: waits ?? 'Solana has not confirmed it yet.',
    state: waits ? 'failed' : 'active',
  };
}

function paid(execution: Execution, refunded: ShownRefund | null | undefined): Step {
  const { status, completed_at: at, refund, creator_amount_usdc: creator } = execution;
  if (status !== 'failed') {
    const about = `The creator signed exactly this result; ${formatAmount(creator)} was paid to the creator.`;
    return { name: 'Signature checked, creator paid', at, about, state: 'done' };
  }
  if (refund === null) return { name: 'Nothing was paid', at, about: 'No escrow was opened.', state: 'done' };
  if (refund === 'done')
    return {
      name: refundedText(refunded),
      at,
      about: (
        <>
          To the wallet that paid: <RefundTransaction refund={refunded} />
        </>
      ),
      state: 'done',
    };
  return { name: 'The refund waits', about: REFUND_TEXTS[refund], state: 'failed' };
}

function disputed(dispute: DisputeSummary): Step[] {
  const opened: Step = { name: 'Disputed', at: dispute.opened_at, state: 'done', tone: 'warn' };
  if (dispute.outcome === 'open') {
    return [
      opened,
      { name: 'The admin’s decision is due', at: dispute.answer_due_at, state: 'waiting' },
      {
        name: 'Without a decision, you can end it and get the bond back, not the price',
        at: dispute.lapses_at,
        state: 'waiting',
      },
    ];
  }
  const { outcome, amount_to_caller_usdc: amount } = dispute;
  const isKnown = outcome === 'upheld' && amount !== null;
  const about = isKnown ? `${formatAmount(amount)} awarded to you.` : undefined;
  const tone = outcome === 'upheld' ? 'good' : 'plain';
  return [opened, { name: outcomeOfDispute(outcome).words, at: dispute.resolved_at, about, state: 'done', tone }];
}
