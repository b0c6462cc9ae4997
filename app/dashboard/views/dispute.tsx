/**
 * One dispute for its parties and the admin: evidence, request, result and reply, what is at stake or was decided, and a
 * new verification of the receipt. The creator can reply here, and the admin can decide beside the case.
 */
import { useQuery } from '@tanstack/react-query';
import { useLocation, useParams } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import type { ProcedureOutput } from '../../sdk/wire/procedures.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Back, HeadFacts } from '../parts/heads.tsx';
import { Parameters, parameterLines } from '../parts/parameters.tsx';
import Result from '../parts/result/result.tsx';
import { TextBox } from '../parts/textBox.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Badge, Button, Card, cx, Facts, PageHead, Part } from '../parts/ui.tsx';
import { Day, formatAmount, formatLamports, Id, shorten, Time } from '../parts/values.tsx';
import { caseQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { Due } from './admin/due.tsx';
import { AgentLink, OpenBadge, Parties, ToDecision } from './admin/parties.tsx';
import { Resolve } from './admin/resolve.tsx';
import { AtStake } from './disputes/atStake.tsx';
import { Deadline, ReplyWords } from './disputes/deadline.tsx';
import { Decision } from './disputes/ended.tsx';
import { Evidence } from './disputes/evidence.tsx';
import { Fold } from './disputes/fold.tsx';
import { MostAtStake } from './disputes/mostAtStake.tsx';
import { Others } from './disputes/others.tsx';
import type { Reader } from './disputes/outcomes.tsx';
import { Promised } from './disputes/promised.tsx';
import { Reply } from './disputes/reply.tsx';
import { Verified } from './disputes/verified.tsx';
import { CallOf, DisputeActions, DisputeTitle } from './executions/dispute.tsx';
import { outcomeOfDispute } from './executions/outcome.ts';

type Case = ProcedureOutput<'disputes.case'>;

/** Poll interval, ms. The view reads the index, which follows the chain. */
const REFRESH_MS = 5_000;

/** `/disputes/$executionId` for the parties, `/admin/disputes/$executionId` for the admin. */
export default function View(): ReactNode {
  const { executionId = '' } = useParams({ strict: false });
  const isOfAdmin = useLocation({ select: ({ pathname }) => pathname.startsWith('/admin/') });
  return (
    <>
      <BackToList executionId={executionId} isOfAdmin={isOfAdmin} />
      <SignedIn
        title="Dispute"
        admin={isOfAdmin}
        why="A dispute is shown to its caller, to the agent’s creator and to the admin."
      >
        <Loaded executionId={executionId} isOfAdmin={isOfAdmin} />
      </SignedIn>
    </>
  );
}

/** To the list that has the dispute: the admin's, the agent's for its creator, else the wallet's. Hidden until that is known. */
function BackToList({ executionId, isOfAdmin }: { executionId: string; isOfAdmin: boolean }) {
  const { wallet } = useSession();
  const { data, error } = useQuery({ ...caseQuery(executionId), enabled: false });
  const isKnown = wallet === null || data !== undefined || error !== null;
  if (isOfAdmin) {
    return (
      <Back to="/admin" search={{ tab: 'disputes' }}>
        All disputes
      </Back>
    );
  }
  if (data && data.dispute.creator === wallet) {
    return (
      <Back to="/creator/$agentId" params={{ agentId: data.dispute.agent_id }} search={{ tab: 'disputes' }}>
        {data.dispute.agent_name ?? shorten(data.dispute.agent_id)}
      </Back>
    );
  }
  return (
    <Back to="/disputes" className={isKnown ? undefined : 'invisible'}>
      Your disputes
    </Back>
  );
}

function Loaded({ executionId, isOfAdmin }: { executionId: string; isOfAdmin: boolean }) {
  const { wallet } = useSession();
  const query = useQuery({
    ...caseQuery(executionId),
    refetchInterval: ({ state }) => (state.data?.dispute.outcome === 'open' ? REFRESH_MS : false),
  });
  const { data } = query;
  if (data) {
    const reader = isOfAdmin ? 'admin' : wallet === data.dispute.creator ? 'creator' : 'caller';
    return <CaseView found={data} reader={reader} />;
  }
  return (
    <>
      <PageHead title="Dispute" />
      <Unread query={query} what="The dispute" className="h-128" />
    </>
  );
}

/** The case, with what its reader does or learns beside it. On a phone the case comes first for a reader who must act. */
const COLUMNS =
  'grid grid-cols-[minmax(0,1fr)] gap-5 lg:grid-cols-[minmax(0,1fr)_26rem] lg:grid-rows-[auto_auto_1fr] lg:items-start *:[header]:mb-1';
const COLUMN = 'grid grid-cols-[minmax(0,1fr)] gap-5';
const BESIDE = 'lg:col-start-2 lg:row-span-3 lg:row-start-1';
/** Below the head, level with the case. */
const LEVEL = 'lg:col-start-2 lg:row-span-2 lg:row-start-2';
/** A panel to act in stays in the window. */
const PANEL = `flex flex-col p-0! lg:sticky lg:top-20 lg:max-h-[calc(100vh-10.5rem)] ${BESIDE}`;
const PANEL_HEAD = 'shrink-0 border-b border-line px-5 py-2.5';

function CaseView({ found, reader }: { found: Case; reader: Reader }) {
  const { execution, task, parameters, dispute } = found;
  const isOpen = dispute.outcome === 'open';
  const { words, tone } = outcomeOfDispute(dispute.outcome);
  const mayDecide = isOpen && reader === 'admin';
  const mayReply = isOpen && reader === 'creator';
  // Whoever must answer reads everything first; for everybody else a long text is folded.
  const mustRead = mayDecide || mayReply;
  const isCaseFirst = mustRead || (isOpen && !dispute.has_evidence);
  const sent = parameters !== null && Object.keys(parameters).length > 0 ? parameters : null;
  const asked = [task ?? '', sent ? parameterLines(sent) : ''].filter((text) => text !== '').join('\n');
  const { result } = execution;
  const panel = useRef<HTMLElement>(null);
  const aside = mayDecide ? (
    <Card ref={panel} tabIndex={-1} aria-label="Your decision" className={PANEL}>
      <div className={PANEL_HEAD}>
        <div className="flex flex-wrap items-center justify-between gap-x-2">
          <h2 className="font-semibold">Your decision</h2>
          <Due dispute={dispute} />
        </div>
        <p className="mt-0.5 text-sm text-faint">
          Due by <Time at={dispute.answer_due_at} />. From <Day at={dispute.lapses_at} /> on anybody can end it: the
          bond goes back, no refund.
        </p>
      </div>
      <Resolve dispute={dispute} />
    </Card>
  ) : mayReply ? (
    <Card ref={panel} tabIndex={-1} aria-label="Reply" className={PANEL}>
      <div className={PANEL_HEAD}>
        <Deadline dispute={dispute} as="h2" reader={reader} />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 overflow-auto px-5 py-4">
        {/* As high as its text, which is whole only once the chain is read: the form must not move then. */}
        <p className="min-h-25 text-sm sm:min-h-20">
          {dispute.bond_lamports > 0 && `If you win: the caller’s bond of ${formatLamports(dispute.bond_lamports)}. `}
          <MostAtStake dispute={dispute} />
        </p>
        <Reply dispute={dispute} reader={reader} delivery={found.creator_delivery} />
      </div>
    </Card>
  ) : (
    <div className={cx(COLUMN, LEVEL)}>
      {isOpen ? (
        <>
          <Card>
            <Deadline dispute={dispute} as="h2" reader={reader} />
          </Card>
          <AtStake dispute={dispute} reader="caller" />
        </>
      ) : (
        <Decision dispute={dispute} reader={reader} />
      )}
    </div>
  );
  return (
    <div className={cx(COLUMNS, !mustRead && 'lg:*:[header]:col-span-full')}>
      <PageHead
        title={<DisputeTitle dispute={dispute} />}
        about={
          <>
            {task !== null && (
              <span className="mb-1.5 line-clamp-1 break-words" title={task}>
                {task}
              </span>
            )}
            <HeadFacts
              facts={[
                <span key="outcome" className="flex flex-wrap gap-2">
                  {mayDecide ? <OpenBadge dispute={dispute}>{words}</OpenBadge> : <Badge tone={tone}>{words}</Badge>}
                </span>,
                <span key="opened">
                  {reader === 'caller' ? 'You opened it' : 'Opened'} <Time at={dispute.opened_at} />
                </span>,
                <CallOf key="call" dispute={dispute} reader={reader} />,
              ]}
            />
            {reader === 'admin' && <Parties dispute={dispute} />}
          </>
        }
      >
        <DisputeActions dispute={dispute} />
        {mayDecide && <ToDecision dispute={dispute} panel={panel} />}
        {mayReply && (
          <Button
            kind={dispute.reply === null ? 'primary' : 'plain'}
            className="lg:hidden"
            onClick={() => panel.current?.focus()}
          >
            Reply
          </Button>
        )}
        {/* As high as its text, which is whole only once the chain is read. */}
        {mayReply && (
          <p className="min-h-25 w-full text-sm sm:min-h-15 lg:hidden">
            <ReplyWords dispute={dispute} /> <MostAtStake dispute={dispute} />
          </p>
        )}
      </PageHead>
      {!isCaseFirst && aside}
      <div className={COLUMN}>
        <Fold
          title={reader === 'caller' ? 'Your evidence' : 'The caller’s evidence'}
          gist={dispute.has_evidence ? false : 'not uploaded'}
          open={isOpen}
        >
          <Evidence dispute={dispute} reader={reader} />
        </Fold>
        {mayReply ? (
          <AtStake dispute={dispute} reader="creator" />
        ) : (
          <Fold title={reader === 'creator' ? 'Your reply' : 'The creator’s reply'} open>
            <Reply dispute={dispute} reader={reader} delivery={found.creator_delivery} />
          </Fold>
        )}
        <Fold
          title="What was asked"
          gist={asked === '' ? 'not known' : <Beginning text={asked} />}
          open={mustRead || isShort(asked)}
        >
          {asked === '' && (
            <p className="text-sm text-faint">The marketplace never ran this call, so its request is not known.</p>
          )}
          {task !== null && (
            <Part title="Task">
              <TextBox text={task} label="Task" />
            </Part>
          )}
          {sent !== null && (
            <Part title="Parameters">
              <Parameters parameters={sent} />
            </Part>
          )}
        </Fold>
        <Fold
          title="What was answered"
          gist={result === null ? 'no longer kept' : <Beginning text={result} />}
          open={mustRead || isShort(result ?? '')}
        >
          {result === null ? (
            <p className="text-sm text-faint">The marketplace no longer has the result.</p>
          ) : (
            <Result text={result} name={execution.execution_id} />
          )}
        </Fold>
        {(mustRead || reader === 'creator') && <Promised dispute={dispute} isOpen={mustRead} />}
        <Verified found={found} isCreator={reader === 'creator'} />
        {found.others && <Others others={found.others} dispute={dispute} />}
      </div>
      {isCaseFirst && aside}
      <div className={COLUMN}>
        <Fold title="History" gist="times, wallets, ids">
          <Facts rows={historyOf(found)} />
        </Fold>
      </div>
    </div>
  );
}

/** A text that may stay open: empty ones have nothing to show. */
const isShort = (text: string): boolean => text !== '' && text.length < 1_000 && text.split('\n').length <= 20;

/** The gist of a text while it is folded. */
const Beginning = ({ text }: { text: string }) => (
  <span className="line-clamp-2 break-words group-open:hidden">{text.slice(0, 200)}</span>
);

function historyOf({ dispute, execution }: Case): (readonly [ReactNode, ReactNode] | false)[] {
  return [
    ['Agent', <AgentLink key="agent" dispute={dispute} />],
    ['Caller', <Id key="caller" value={dispute.caller} kind="address" />],
    ['Creator', <Id key="creator" value={dispute.creator} kind="address" />],
    ['Price', formatAmount(dispute.price_usdc)],
    ['Called', <Time key="called" at={execution.initiated_at} />],
    ['Disputed', <Time key="opened" at={dispute.opened_at} />],
    ['Decision due', <Time key="due" at={dispute.answer_due_at} />],
    dispute.outcome === 'open' && ['Can be ended from', <Time key="lapses" at={dispute.lapses_at} />],
    dispute.resolved_at !== null && ['Ended', <Time key="resolved" at={dispute.resolved_at} />],
    dispute.bond_lamports > 0 && ['Bond held', formatLamports(dispute.bond_lamports)],
    ['Call', <Id key="id" value={dispute.execution_id} full />],
  ];
}
