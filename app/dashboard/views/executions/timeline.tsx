/** Timeline of a call and its money, with the current step. */
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { cx } from '../../parts/ui.tsx';
import { formatAmount, Time } from '../../parts/values.tsx';
import { type CallParts, type Execution, isBeingOpened, isBeingReturned } from './facts.tsx';
import { outcomeOfDispute } from './outcome.ts';
import { RefundTransaction, refundedText, type ShownRefund, useRefund } from './refunded.tsx';

interface Moment {
  title: string;
  at?: string | null;
  about?: ReactNode;
  state: 'done' | 'now' | 'bad' | 'next';
}

export function Timeline(props: CallParts) {
  const refunded = useRefund(props.execution, props.execution.refund === 'done');
  return (
    <ol className="grid">
      {momentsOf(props, refunded).map((moment, index, all) => (
        <li key={moment.title} className="grid grid-cols-[1.25rem_1fr] gap-x-3 text-sm">
          <span aria-hidden="true" className="flex flex-col items-center">
            <span
              className={cx(
                'mt-1.5 size-2.5 shrink-0 rounded-full',
                moment.state === 'done' && 'bg-good',
                moment.state === 'bad' && 'bg-bad',
                moment.state === 'now' && 'animate-pulse bg-accent',
                moment.state === 'next' && 'border border-strong',
              )}
            />
            {index < all.length - 1 && <span className="mt-1 w-px grow bg-line" />}
          </span>
          <div className="pb-5">
            <p className="font-medium">{moment.title}</p>
            {moment.at && (
              <p className="mt-0.5 text-faint tabular-nums">
                <Time at={moment.at} hasSeconds />
              </p>
            )}
            {moment.about && <p className="mt-0.5 text-faint">{moment.about}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

function momentsOf({ execution, dispute, record }: CallParts, refunded: ShownRefund | null | undefined): Moment[] {
  const { status, archive } = execution;
  if (isBeingReturned(execution)) return [DEPOSITED, returning(execution)];
  if (refunded?.isOfDeposit) return [DEPOSITED, paid(execution, refunded)];
  if (isBeingOpened(execution, record)) {
    return [{ title: 'Being opened', about: 'Solana has not confirmed it yet.', state: 'now' }];
  }
  return [
    {
      title: 'Price put into escrow',
      at: execution.initiated_at,
      about: 'A signed result releases it; otherwise it returns to you.',
      state: 'done',
    },
    ...answered(execution),
    ...(status === 'running' || status === 'pending' ? [] : [paid(execution, refunded)]),
    ...(dispute ? disputed(dispute) : []),
    ...(archive
      ? [
          {
            title: 'Archived',
            about: `As leaf ${archive.leaf_index} of archive ${archive.archive_index}.`,
            state: 'done',
          } as const,
        ]
      : []),
  ];
}

/** Nothing for a paid call: when its result came is not kept. */
function answered({ status, refund }: Execution): Moment[] {
  switch (status) {
    case 'running':
      return refund === 'pending'
        ? [{ title: 'The refund is on its way', state: 'now' }]
        : [{ title: 'The agent is working', about: 'Its result is verified, then paid for.', state: 'now' }];
    case 'pending':
      return [{ title: 'Not started yet', state: 'now' }];
    case 'failed':
      return [{ title: 'No valid result', state: 'bad' }];
    default:
      return [];
  }
}

/** A deposit from which no call was opened. */
const DEPOSITED: Moment = {
  title: 'Paid into a deposit',
  about: 'No call was opened from it, so the payment goes back to the wallet that paid.',
  state: 'done',
};

function returning({ refund }: Execution): Moment {
  const waits = refund === 'waiting' || refund === 'unclaimed' ? REFUND_WAITS[refund] : null;
  return { title: 'Being returned', about: waits ?? 'Solana has not confirmed it yet.', state: waits ? 'bad' : 'now' };
}

function paid(execution: Execution, refunded: ShownRefund | null | undefined): Moment {
  const { status, completed_at: at, refund, creator_amount_usdc: creator } = execution;
  if (status !== 'failed') {
    const about = `The result is verified, and ${formatAmount(creator)} paid to the creator.`;
    return { title: 'Result verified and paid', at, about, state: 'done' };
  }
  if (refund === null) return { title: 'Nothing was paid', at, about: 'No escrow was opened.', state: 'done' };
  if (refund === 'done')
    return {
      title: refundedText(refunded),
      at,
      about: (
        <>
          To the wallet that paid: <RefundTransaction refund={refunded} />
        </>
      ),
      state: 'done',
    };
  return { title: 'The refund waits', about: REFUND_WAITS[refund], state: 'bad' };
}

type RefundState = NonNullable<Execution['refund']>;

/** The reasons why the money has not been returned yet. */
export const REFUND_WAITS: Record<Exclude<RefundState, 'done'>, string> = {
  pending: 'The marketplace is sending it.',
  waiting: 'The caller’s USDC account is missing or frozen. Once it can receive, the price is sent to it.',
  unclaimed:
    'The caller’s USDC account could not receive it for an hour. The caller claims it to any own USDC account: npm run cli -- refund claim EXECUTION_ID.',
};

function disputed(dispute: DisputeSummary): Moment[] {
  const opened: Moment = {
    title: 'Disputed',
    at: dispute.opened_at,
    state: dispute.outcome === 'open' ? 'now' : 'done',
  };
  if (dispute.outcome === 'open') {
    return [
      opened,
      { title: 'The admin’s decision is due', at: dispute.answer_due_at, state: 'next' },
      { title: 'Without a decision, you can end it and get the bond back', at: dispute.lapses_at, state: 'next' },
    ];
  }
  const { outcome, amount_to_caller_usdc: amount } = dispute;
  const isKnown = outcome === 'upheld' && amount !== null;
  const about = isKnown ? `${formatAmount(amount)} refunded to you.` : undefined;
  return [opened, { title: outcomeOfDispute(outcome, 'admin').words, at: dispute.resolved_at, about, state: 'done' }];
}
