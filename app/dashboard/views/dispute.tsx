/**
 * One dispute for its parties and the admin: request, result, evidence, the creator's reply, and a new verification of
 * the receipt. The creator can reply here, and the admin can decide.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ProcedureOutput } from '../../sdk/wire/procedures.ts';
import { parseUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import { SignedIn } from '../parts/connect.tsx';
import Result from '../parts/result/result.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Card, Facts, PageHead, Skeleton } from '../parts/ui.tsx';
import { Code, formatAmount, Id, shorten, Time } from '../parts/values.tsx';
import { call } from '../service.ts';
import { openChain } from '../wallet/chain.ts';
import { useSession } from '../wallet/session.ts';
import { Due } from './admin/due.tsx';
import { type Collateral, Resolve } from './admin/resolve.tsx';
import { sol } from './admin/state.tsx';
import { Evidence } from './disputes/evidence.tsx';
import { Reply } from './disputes/reply.tsx';
import { Verified } from './disputes/verified.tsx';

type Case = ProcedureOutput<'disputes.case'>;

/** Poll interval, ms. The view reads the index, which follows the chain. */
const REFRESH_MS = 5_000;

/** `/disputes/$executionId` for the parties, `/admin/disputes/$executionId` for the admin. */
export default function View() {
  const { executionId = '' } = useParams({ strict: false });
  const isOfAdmin = useLocation({ select: ({ pathname }) => pathname.startsWith('/admin/') });
  return (
    <>
      <p className="mb-3 text-sm">
        {isOfAdmin ? (
          <Link to="/admin" search={{ tab: 'disputes' }} className="text-faint hover:text-ink">
            ← All disputes
          </Link>
        ) : (
          <Link to="/disputes" className="text-faint hover:text-ink">
            ← Your disputes
          </Link>
        )}
      </p>
      <PageHead title="Dispute" about={<Id value={executionId} full />} />
      <SignedIn admin={isOfAdmin} why="A dispute is shown to its caller, to the agent’s creator and to the admin.">
        <Loaded executionId={executionId} mayDecide={isOfAdmin} />
      </SignedIn>
    </>
  );
}

/** `mayDecide`: true in the admin's view. */
function Loaded({ executionId, mayDecide }: { executionId: string; mayDecide: boolean }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['disputes.case', executionId],
    queryFn: () => call('disputes.case', { execution_id: executionId }),
    refetchInterval: ({ state }) => (state.data?.dispute.outcome === 'open' ? REFRESH_MS : false),
  });
  if (data) return <CaseView found={data} mayDecide={mayDecide} />;
  if (error) return <Trouble error={error} what="The dispute" onRetry={refetch} />;
  return (
    <div className="grid gap-6 lg:grid-cols-[1fr_22rem]">
      <Skeleton className="h-128" />
      <Skeleton className="h-96" />
    </div>
  );
}

function CaseView({ found, mayDecide }: { found: Case; mayDecide: boolean }) {
  const { execution, task, parameters, dispute } = found;
  const { wallet } = useSession();
  const collateral = useCollateral(dispute.execution_id);
  const isOpen = dispute.outcome === 'open';
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr]">
      <Card className="grid gap-4 lg:col-start-2">
        <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
          <h2 className="font-semibold">
            {isOpen ? `Waiting for ${mayDecide ? 'you' : 'the admin’s decision'}` : 'Decided'}
          </h2>
          <Due dispute={dispute} />
        </div>
        <Facts rows={factsOf(found, collateral)} />
      </Card>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:col-start-1 lg:row-span-2 lg:row-start-1">
        <Section title="Evidence">
          <Evidence dispute={dispute} />
        </Section>
        <Section title="The creator’s reply">
          <Reply dispute={dispute} mayReply={isOpen && wallet === dispute.creator} />
        </Section>
        <Section title="What was asked">
          {task === null && parameters === null ? (
            <p className="text-sm text-faint">The marketplace never ran this execution, so its request is not known.</p>
          ) : (
            <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
              {task !== null && <Code text={task} label="Task" />}
              {parameters !== null && <Code text={JSON.stringify(parameters, null, 2)} label="Parameters" />}
            </div>
          )}
        </Section>
        <Section title="What was answered">
          {execution.result === null ? (
            <p className="text-sm text-faint">The marketplace no longer has the result.</p>
          ) : (
            <Result text={execution.result} name={execution.execution_id} />
          )}
        </Section>
        <Verified found={found} />
      </div>
      <Card className="lg:sticky lg:top-24 lg:col-start-2">
        <h2 className="mb-4 font-semibold">{isOpen && mayDecide ? 'Your decision' : 'The decision'}</h2>
        {!isOpen && <Facts rows={outcomeRows(found)} />}
        {isOpen && mayDecide && <Resolve dispute={dispute} collateral={collateral} />}
        {isOpen && !mayDecide && (
          <p className="text-sm text-faint">
            The admin decides within 72 hours of the dispute. Without a decision after 30 days, anybody can end it, and
            the bond goes back to the caller.
          </p>
        )}
      </Card>
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card>
      <h2 className="mb-4 font-semibold">{title}</h2>
      {children}
    </Card>
  );
}

/** The collateral on the chain; null while it is read, or if that fails. */
function useCollateral(executionId: string): Collateral | null {
  const { data } = useQuery({
    queryKey: ['dispute-collateral', executionId],
    queryFn: async () => {
      const { marketplace, showDispute } = await openChain();
      const { parseUuid } = await import('../../sdk/receipt/receipt.ts');
      const found = await showDispute(marketplace, parseUuid(executionId)!);
      return { left: parseUsdc(found.collateral_usdc), forfeited: parseUsdc(found.forfeited_usdc) };
    },
  });
  return data ?? null;
}

function factsOf({ dispute }: Case, collateral: Collateral | null): (readonly [ReactNode, ReactNode])[] {
  return [
    [
      'Agent',
      <Link key="agent" to="/agents/$agentId" params={{ agentId: dispute.agent_id }} className="text-accent underline">
        {dispute.agent_name ?? shorten(dispute.agent_id)}
      </Link>,
    ],
    ['Caller', <Id key="caller" value={dispute.caller} kind="address" />],
    ['Creator', <Id key="creator" value={dispute.creator} kind="address" />],
    ['Price', formatAmount(dispute.price_usdc)],
    ['Collateral left', collateral === null ? '–' : formatAmount(toUsdc(collateral.left))],
    ['Bond', dispute.bond_lamports === 0 ? 'paid out' : sol(dispute.bond_lamports)],
    ['Opened', <Time key="opened" at={dispute.opened_at} />],
    ['Decision due', <Time key="due" at={dispute.answer_due_at} />],
    ['Can be ended from', <Time key="lapses" at={dispute.lapses_at} />],
  ];
}

function outcomeRows({ dispute }: Case): (readonly [ReactNode, ReactNode])[] {
  return [
    ['To the caller', formatAmount(dispute.amount_to_caller_usdc)],
    ['Taken from the creator', formatAmount(dispute.amount_slashed_usdc)],
    ['Still owed', formatAmount(dispute.owed_usdc)],
    ['Ended', dispute.resolved_at ? <Time key="resolved" at={dispute.resolved_at} /> : '–'],
    [
      'Reason',
      dispute.reason ? (
        <span className="whitespace-pre-wrap">{dispute.reason}</span>
      ) : dispute.reason_hash ? (
        <Id value={dispute.reason_hash} />
      ) : (
        'no reason given'
      ),
    ],
  ];
}
