/** The progress of a call: escrow, dispatched, verified, settled or refunded. Each step shows its proof once known. */
import { useQuery } from '@tanstack/react-query';
import type { Refund } from '../../../../sdk/receipt/verify.ts';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import { Away } from '../../../parts/links.tsx';
import { useNow } from '../../../parts/now.ts';
import { type Step, StepList, type StepState } from '../../../parts/stepList.tsx';
import { formatAmount, formatDuration, formatSpan } from '../../../parts/values.tsx';
import { configQuery, explorerUrl } from '../../../service.ts';
import { REFUND_TEXTS } from '../../executions/outcome.ts';
import { RefundTransaction, refundedText, useRefund } from '../../executions/refunded.tsx';
import { describeFailure } from './failure.ts';
import type { RunState } from './useRun.ts';

export function RunProgress({
  run,
  agent,
  timeoutSeconds,
}: {
  run: RunState;
  agent: AgentFull;
  timeoutSeconds: number;
}) {
  const { data: config } = useQuery(configQuery);
  const found = run.ended ?? run.answer;
  const refund = useRefund(run.ended, run.ended?.refund === 'done');
  const links = {
    opened: run.opened && config ? explorerUrl(config, 'tx', run.opened.signature) : null,
    record: run.execution?.on_chain_record ?? null,
    settled: run.answer?.on_chain_record ?? null,
  };
  return (
    <section aria-label="Progress">
      <div className="mb-4 flex items-baseline justify-between gap-4">
        <h2 className="text-lg font-semibold">{titleOf(run)}</h2>
        <Elapsed from={run.begunAt} until={run.endedAt} took={found?.execution_time_ms ?? null} />
      </div>
      <StepList steps={stepsOf(run, agent, timeoutSeconds, links, refund)} isLive />
    </section>
  );
}

/** No escrow was opened, or none is known. */
const isRefused = ({ executionId, error }: RunState): boolean => executionId === null && error !== null;

/** The price is in escrow, but the work was not started. */
const isStalled = ({ opened, error, hasEnded, isAtWork }: RunState): boolean =>
  opened !== null && error !== null && !hasEnded && !isAtWork;

function titleOf(run: RunState): string {
  const { outcome, error, isAtWork, isSilent, isUnreadable } = run;
  if (isRefused(run)) return 'Not run';
  if (isStalled(run)) return 'Not started';
  if (isSilent || (outcome === null && (isUnreadable || (error !== null && !isAtWork)))) return 'Not known yet';
  if (outcome === null) return 'Running';
  return outcome === 'completed' ? 'Completed' : 'Not completed';
}

interface Links {
  opened: string | null;
  record: string | null;
  settled: string | null;
}

function stepsOf(
  run: RunState,
  agent: AgentFull,
  timeoutSeconds: number,
  links: Links,
  refunded: Refund | null | undefined,
): Step[] {
  const { ended, error, outcome, hasEnded, wasOpened, isAtWork, answer } = run;
  const price = formatAmount(agent.price_per_call_usdc);
  const failed = outcome === 'failed';
  const isVoid = failed && ended !== null && ended.refund === null;
  const wasSent = wasOpened && !isVoid && (hasEnded || isAtWork);
  const isDone = outcome === 'completed';
  const refund = ended?.refund ?? null;
  const step = (done: boolean, isTurn: boolean): StepState => (done ? 'done' : isTurn ? 'active' : 'waiting');
  const steps: Step[] = [
    {
      name: 'Escrow',
      state: isRefused(run) || isVoid ? 'failed' : step(wasOpened, true),
      about: isVoid ? (
        'It was never opened, and nothing was paid.'
      ) : wasOpened ? (
        <>
          {price} {hasEnded ? 'was held' : 'is held'} on Solana. <Out href={links.opened}>Transaction</Out>{' '}
          <Out href={links.record}>Record</Out>
        </>
      ) : isRefused(run) ? (
        describeFailure(run.error).mayRepeat ? (
          'This page does not know of one yet.'
        ) : (
          'None was opened.'
        )
      ) : error !== null ? (
        'Not known yet.'
      ) : (
        `Putting ${price} into escrow …`
      ),
    },
    {
      name: 'Dispatched',
      state: step(wasSent, wasOpened && !isStalled(run)),
      about: wasSent
        ? `The task ${hasEnded ? 'went to' : 'is with'} the creator’s server.`
        : isStalled(run)
          ? 'Waits for you to start it.'
          : 'Sending the task to the creator …',
    },
    {
      name: failed ? 'No valid result' : 'Verified',
      state: failed ? 'failed' : step(isDone, wasSent),
      about: failed
        ? 'The agent gave no valid result.'
        : isDone
          ? 'The creator’s signature matches the hash of the result. The on-chain program checked it.'
          : `The agent has ${formatSpan(timeoutSeconds)} to answer with a signed result.`,
    },
  ];
  // A call that has not started has no further steps.
  if (isRefused(run)) return steps.slice(0, 1);
  steps.push(
    failed
      ? {
          name: refundedText(refunded),
          state: isVoid ? 'waiting' : refundState(refund ?? 'unknown'),
          about: isVoid ? (
            'There is nothing to refund.'
          ) : refund && refund === 'done' ? (
            <>
              It is back in the wallet that paid: <RefundTransaction refund={refunded} />
            </>
          ) : (
            REFUND_TEXTS[refund ?? 'unknown']
          ),
        }
      : {
          name: 'Settled',
          state: step(isDone, false),
          about: isDone ? (
            <>
              {ended && ended.creator_amount_usdc > 0
                ? `${formatAmount(ended.creator_amount_usdc)} to the creator, ${formatAmount(ended.platform_amount_usdc)} to the marketplace. `
                : 'The creator is paid. '}
              <Out href={links.settled ?? (answer === null ? links.record : null)}>On the chain</Out>
            </>
          ) : (
            'The escrow then pays the creator. Without a valid result, the price is refunded.'
          ),
        },
  );
  return steps;
}

/** A refund that waits for somebody has failed for now. */
const refundState = (refund: keyof typeof REFUND_TEXTS): StepState => {
  if (refund === 'done') return 'done';
  return refund === 'waiting' || refund === 'unclaimed' ? 'failed' : 'active';
};

function Out({ href, children }: { href: string | null; children: string }) {
  if (!href) return null;
  return (
    <Away href={href} className="mr-1 whitespace-nowrap">
      {children}
      <span className="sr-only"> in the explorer</span>
    </Away>
  );
}

const TICK_MS = 500;

/** `took`: the execution time from the service, ms. Once known, it replaces the time measured here. */
function Elapsed({ from, until, took }: { from: number; until: number | null; took: number | null }) {
  const now = useNow(TICK_MS, until === null);
  return (
    <p className="text-sm text-faint tabular-nums">{formatDuration(took ?? Math.max(0, (until ?? now) - from))}</p>
  );
}
