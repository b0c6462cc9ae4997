/** The calls that an agent's server received, or those of all agents: request, answer, and the reason of a refund. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useState } from 'react';
import { MarketplaceError } from '../../../sdk/client/error.ts';
import type { ReceivedCall } from '../../../sdk/wire/procedures.ts';
import { formatterOf } from '../../parts/amount.ts';
import { FindCall } from '../../parts/findCall.tsx';
import { Icon } from '../../parts/icons.tsx';
import { SaveButton } from '../../parts/saveButton.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Button, buttonStyle, Checkbox, cx, Empty, Note } from '../../parts/ui.tsx';
import { formatDuration, shorten, zoneAt } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { outcomeOfReceived } from '../executions/outcome.ts';
import { Exact, OutcomeBadge, TaskLine } from '../executions/rows.tsx';
import { ownListingsQuery } from './own.ts';
import { Content, contentQuery } from './receivedContent.tsx';

const EVERY_MS = 10_000;

/** Names of the wallet's agents, by address. */
function useNames(): (agentId: string) => string {
  const { data } = useQuery(ownListingsQuery);
  return (agentId) => data?.listings.find(({ agent_id }) => agent_id === agentId)?.name ?? shorten(agentId);
}

interface ReceivedProps {
  /** All of the wallet's agents if undefined. */
  agentId: string | undefined;
  /** The id of the only call to show. */
  only: string | undefined;
  /** Only refunded calls and those with an upheld dispute. */
  failed: boolean;
  onFailed(failed: boolean): void;
  /** Shows the call with this id. */
  onFind(executionId: string): void;
}

export function Received({ only, ...props }: ReceivedProps) {
  return only === undefined ? <Calls {...props} /> : <OneCall agentId={props.agentId} executionId={only} />;
}

/** One call, opened, with the way to all others. */
function OneCall({ agentId, executionId }: { agentId: string | undefined; executionId: string }) {
  const query = useQuery(contentQuery(executionId));
  const { data, error } = query;
  const nameOf = useNames();
  const all: LinkProps =
    agentId === undefined
      ? { to: '/creator/calls' }
      : { to: '/creator/$agentId', params: { agentId }, search: { tab: 'received' } };
  const isUnknown = error instanceof MarketplaceError && error.code === 'execution_not_found';
  return (
    <section className="grid gap-4" aria-label="Calls">
      <h2 className="sr-only">Calls</h2>
      <div>
        <Link {...all} className={buttonStyle()}>
          Show all calls
        </Link>
      </div>
      {isUnknown && <Empty title="None of your agents received an ended call with this ID" />}
      {!data && !isUnknown && <Unread query={query} what="The call" className="h-64" />}
      {data && agentId !== undefined && data.call.agent_id !== agentId && (
        <Note>A call of {nameOf(data.call.agent_id)}, another of your agents.</Note>
      )}
      {data && <Table calls={[data.call]} isNamed={data.call.agent_id !== agentId} isOpen />}
    </section>
  );
}

const ofAgent = (agentId: string | undefined) => (agentId === undefined ? {} : { agent_id: agentId });

function Calls({ agentId, failed, onFailed, onFind }: Omit<ReceivedProps, 'only'>) {
  const query = useInfiniteQuery({
    queryKey: ['listings', 'calls', agentId, failed],
    queryFn: ({ pageParam }) =>
      call('listings.calls', { ...ofAgent(agentId), failed, ...(pageParam && { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ calls, has_more }) => (has_more ? calls.at(-1)?.execution_id : undefined),
    refetchInterval: EVERY_MS,
  });
  const calls = query.data?.pages.flatMap((page) => page.calls);
  const nameOf = useNames();
  return (
    <section className="grid gap-4" aria-label="Calls">
      <h2 className="sr-only">Calls</h2>
      <p className="max-w-2xl text-sm text-faint">
        Newest first, once they are paid or refunded. “Download CSV” saves all{failed && ' of these'}. A caller can
        delete the request and the answer: of a refunded call at any time, of a paid one once no dispute is open or
        possible. Keep your own copies.
      </p>
      <div className="flex flex-wrap items-end gap-x-5 gap-y-3">
        <div className="max-sm:w-full sm:w-64">
          <FindCall onFind={onFind} />
        </div>
        <Checkbox
          label="Only refunds and upheld disputes"
          hint="Also refunds without a fault of the agent"
          checked={failed}
          onChange={({ target }) => onFailed(target.checked)}
        />
        <SaveButton
          className="sm:ml-auto"
          disabled={!calls?.length}
          work={async () =>
            (await import('../executions/saveCsv.ts')).saveReceivedCsv({ ...ofAgent(agentId), failed }, nameOf)
          }
          failed="The file could not be made"
        >
          Download CSV
        </SaveButton>
      </div>
      {!calls && <Unread query={query} what="The calls" className="h-64" />}
      {calls?.length === 0 && <Empty title={failed ? 'No refunds and no upheld disputes' : 'No calls yet'} />}
      {calls && calls.length > 0 && <Table calls={calls} isNamed={agentId === undefined} />}
      {query.hasNextPage && (
        <div className="text-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Older calls
          </Button>
        </div>
      )}
    </section>
  );
}

/** One row: task, outcome, earned, answer and time. */
const COLUMNS =
  'grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-2 px-4 lg:grid-cols-[minmax(0,1fr)_11rem_7rem_9rem_10rem]';

interface TableProps {
  calls: ReceivedCall[];
  /** With the agent of each call. */
  isNamed: boolean;
  isOpen?: boolean;
}

function Table({ calls, isNamed, isOpen }: TableProps) {
  const nameOf = useNames();
  const earned = formatterOf(calls.map(({ earned_usdc }) => earned_usdc));
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-raised">
      <p aria-hidden="true" className={cx(COLUMNS, 'border-b border-line py-2.5 text-xs text-faint max-lg:hidden')}>
        <span className="pl-6">Task</span>
        <span>Outcome</span>
        <span className="text-right">Earned, USDC</span>
        <span className="text-right">Answer</span>
        <span>When ({zoneAt(Date.now())})</span>
      </p>
      <ul>
        {calls.map((one) => (
          <li key={one.execution_id} className="border-b border-line last:border-b-0">
            <Call
              received={one}
              earned={earned(one.earned_usdc)}
              agent={isNamed ? nameOf(one.agent_id) : undefined}
              isOpenFirst={isOpen}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface CallProps {
  received: ReceivedCall;
  /** With as many decimals as the others. */
  earned: string;
  /** Its name, where other calls may be of another agent. */
  agent: string | undefined;
  isOpenFirst?: boolean | undefined;
}

function Call({ received, earned, agent, isOpenFirst = false }: CallProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const { task, received_at, duration_ms, earned_usdc, http_status, error } = received;
  const facts = [
    duration_ms !== null && formatDuration(duration_ms),
    http_status === null ? 'No answer' : `HTTP ${http_status}`,
  ];
  return (
    <>
      {/* The button covers the row, and the link to a dispute is above it: neither is within the other. */}
      <div
        title={received.execution_id}
        className={cx(COLUMNS, 'relative py-3 text-sm hover:bg-sunken lg:items-center')}
      >
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 items-center gap-3 text-left -outline-offset-2 after:absolute after:inset-0"
        >
          <Icon
            size="size-3"
            className={cx('shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
            strokeWidth="2"
          >
            <path d="m5 2 6 6-6 6" />
          </Icon>
          <span className="grid min-w-0 gap-0.5">
            <TaskLine task={task} />
            <span className="truncate text-faint">
              {agent && `${agent} · `}
              <code className="font-mono text-[0.8125rem]">{shorten(received.execution_id)}</code>
            </span>
            {error && <span className="line-clamp-2 text-sm text-faint">{error.message}</span>}
          </span>
        </button>
        <span className="flex flex-wrap items-center justify-between gap-3 lg:contents">
          <OutcomeBadge call={received} outcome={outcomeOfReceived(received)} />
          <span className="text-right tabular-nums max-lg:font-medium">
            <span className="font-normal text-faint lg:sr-only">earned </span>
            {earned_usdc > 0 ? (
              <>
                {earned}
                <span className="lg:sr-only"> USDC</span>
              </>
            ) : (
              <span className="font-normal text-faint">–</span>
            )}
          </span>
        </span>
        <span className="flex flex-wrap justify-between gap-x-3 text-faint lg:contents">
          <span className="lg:hidden">
            <Exact at={received_at} hasZone />
          </span>
          <span className="text-right whitespace-nowrap tabular-nums">{facts.filter(Boolean).join(' · ')}</span>
          <span className="max-lg:hidden">
            <Exact at={received_at} />
          </span>
        </span>
      </div>
      {isOpen && <Content received={received} agent={agent} />}
    </>
  );
}
