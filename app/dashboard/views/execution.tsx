/** One call: its answer and cost, and how to check, refund or dispute it. */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { MarketplaceError } from '../../sdk/client/error.ts';
import { bondWorth } from '../parts/amount.ts';
import { useChainClock } from '../parts/chainClock.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Anchor } from '../parts/links.tsx';
import Result, { Steps } from '../parts/result/result.tsx';
import { SharedNote } from '../parts/sharedNote.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Button, buttonStyle, Card, Empty, Note, PageHead, Skeleton, Spinner } from '../parts/ui.tsx';
import { formatAmount, formatLamports, Time } from '../parts/values.tsx';
import { configQuery, inPrint, request } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { Asked } from './executions/asked.tsx';
import { Deletion } from './executions/deletion.tsx';
import { DisputeCard } from './executions/dispute.tsx';
import { Amounts, Archived, type CallParts, type Execution, isBeingOpened, OnChain } from './executions/facts.tsx';
import { Head } from './executions/head.tsx';
import { OpenDisputeDialog } from './executions/openDispute.tsx';
import {
  isBehind,
  isDisputeBehind,
  isOlder,
  isUnderWay,
  LATE_MS,
  lacksProof,
  readAgain,
  WAITING_MS,
} from './executions/polling.ts';
import { disputeQuery, recordQuery } from './executions/record.ts';
import { RefundState } from './executions/refund.tsx';
import { Timeline } from './executions/timeline.tsx';

const route = getRouteApi('/executions/$executionId');

const executionQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['execution', executionId],
    queryFn: () => request('getExecution', { execution_id: executionId }),
  });

export default function View() {
  const { executionId } = route.useParams();
  const { wallet } = useSession();
  if (wallet) return <Shown key={executionId} executionId={executionId} wallet={wallet} />;
  return (
    <>
      <PageHead title="Call" about={executionId} />
      <SignedIn why="A call is shown to the wallet that paid for it. Anybody can verify it without a wallet.">
        {null}
      </SignedIn>
    </>
  );
}

function Shown({ executionId, wallet }: { executionId: string; wallet: string }) {
  const queries = useQueryClient();
  const query = useQuery({
    ...executionQuery(executionId),
    refetchInterval: ({ state: { data } }) => {
      const record = queries.getQueryData(recordQuery(executionId, Boolean(data?.archive)).queryKey);
      if (data && lacksProof(data, record)) return WAITING_MS;
      return readAgain(data, data && isBehind(data, record));
    },
  });
  const { data: execution, error } = query;
  const recordRead = useQuery({
    ...recordQuery(executionId, Boolean(execution?.archive)),
    enabled: execution !== undefined,
    refetchInterval: ({ state: { data } }) => readAgain(execution, execution && isOlder(execution, data)),
  });
  const record = execution && isOlder(execution, recordRead.data) ? undefined : recordRead.data;
  const mayBeDisputed = execution?.status === 'completed' || execution?.status === 'disputed';
  const { data: dispute } = useQuery({
    ...disputeQuery(executionId),
    enabled: mayBeDisputed,
    refetchInterval: ({ state: { data } }) => (data !== undefined && isDisputeBehind(data, record) ? LATE_MS : false),
  });
  if (!execution) {
    if (error instanceof MarketplaceError && error.status === 404) return <Missing executionId={executionId} />;
    return (
      <>
        <PageHead title="Call" about={executionId} />
        <Unread query={query} what="The call" className="h-128" />
      </>
    );
  }
  const { archive, steps, error: failure } = execution;
  return (
    <>
      <Head execution={execution} />
      <SharedNote>
        A call of the shared test wallet, maybe made by someone else. That wallet pays its price and the bond of a
        dispute, not you.
      </SharedNote>
      <div className="grid items-start gap-5 lg:grid-cols-[1fr_22rem]">
        <div className="grid min-w-0 gap-5 max-lg:contents">
          {record?.status === 'open' && <RefundState execution={execution} record={record} />}
          {failure && (
            <Note
              tone="bad"
              title={
                failure.code.startsWith('execution_')
                  ? 'The agent gave no valid result'
                  : 'The call could not be served'
              }
            >
              <p>{inPrint(failure.message)}</p>
              <Anchor href={`/docs#error-${failure.code}`} className="mt-1 inline-block font-mono text-[0.8125rem]">
                {failure.code}
              </Anchor>
            </Note>
          )}
          {dispute && <DisputeCard dispute={dispute} wallet={wallet} />}
          {!isBeingOpened(execution, record) && <ResultCard execution={execution} />}
          <Asked execution={execution} />
          {steps !== null && steps.length > 0 && (
            <Card className="max-lg:order-2">
              <h2 className="font-semibold">Steps</h2>
              <p className="mt-1 mb-4 text-sm text-faint">
                Reported by the agent. The creator’s signature does not cover them.
              </p>
              <Steps steps={steps} />
            </Card>
          )}
          <div className="grid gap-5 max-lg:order-5">
            <OnChain execution={execution} record={record} />
            {archive && <Archived archive={archive} />}
          </div>
        </div>
        <div className="grid gap-5 max-lg:contents">
          <div className="max-lg:order-1">
            <Amounts execution={execution} dispute={dispute} record={record} />
          </div>
          <Card className="pb-0 max-lg:order-3">
            <h2 className="mb-4 font-semibold">Timeline</h2>
            <Timeline execution={execution} dispute={dispute} record={record} />
          </Card>
          {execution.status === 'completed' &&
            dispute === null &&
            (recordRead.error && !record ? (
              <Unread query={recordRead} what="The record" />
            ) : (
              <Disputable execution={execution} record={record} />
            ))}
          <Deletion execution={execution} dispute={dispute} record={record} />
        </div>
      </div>
    </>
  );
}

function Missing({ executionId }: { executionId: string }) {
  return (
    <>
      <PageHead title="Call" about={executionId} />
      <Empty title="This wallet has no such call">
        <p className="mb-5">It may belong to another wallet. Anybody can verify a call that was paid.</p>
        <a href={`/verify?id=${encodeURIComponent(executionId)}`} className={buttonStyle('primary')}>
          Verify it
        </a>
      </Empty>
    </>
  );
}

function ResultCard({ execution }: { execution: Execution }) {
  const { result, status, refund, execution_id, content_deleted_at } = execution;
  if (status === 'failed' || status === 'pending' || refund === 'pending') return null;
  return (
    <Card className="min-w-0">
      <h2 className="mb-3 font-semibold">Result</h2>
      {result !== null ? (
        <Result text={result} name={execution_id} />
      ) : isUnderWay(execution) ? (
        <div className="rounded-lg bg-sunken px-4 py-10 text-center text-sm">
          <Spinner label="The agent is working. Its result appears here once it is settled." />
        </div>
      ) : (
        <p className="text-sm text-faint">
          {content_deleted_at === null ? 'The marketplace no longer has the result.' : 'You deleted the result.'} Its
          hash stays on the chain, so you can verify your own copy.
        </p>
      )}
    </Card>
  );
}

/** The button for a dispute while its window is open; else a note that it has closed, or that the proof is missing. */
function Disputable({ execution, record }: Pick<CallParts, 'execution' | 'record'>) {
  const [isOpen, setOpen] = useState(false);
  const until = record?.disputable_until;
  const now = useChainClock(Boolean(until));
  const { data: config } = useQuery(configQuery);
  const left = until && now !== undefined ? (Date.parse(until) - now) / 1_000 : null;
  if (record === undefined || (until && left === null)) return <Skeleton className="h-36 max-lg:order-4" />;
  if (lacksProof(execution, record)) {
    return (
      <p className="px-1 text-sm text-faint max-lg:order-4">
        Its record is archived, and the marketplace does not have the proof yet. You need the proof to dispute it. This
        page asks again.
      </p>
    );
  }
  if (!until || left === null || left <= 0) {
    return <p className="px-1 text-sm text-faint max-lg:order-4">The dispute window is over.</p>;
  }
  return (
    <Card className="max-lg:order-4">
      <h2 className="font-semibold">Not what was promised?</h2>
      <p className="mt-1 mb-4 text-sm tabular-nums">
        You can dispute it until <Time at={until} />.{' '}
        {config &&
          `You risk a bond of ${formatLamports(config.dispute_bond_lamports)} to get back at most ${formatAmount(execution.cost_usdc)}. The bond is ${bondWorth(config.dispute_bond_lamports, execution.cost_usdc)}.`}
      </p>
      <Button onClick={() => setOpen(true)}>Open a dispute</Button>
      <OpenDisputeDialog execution={execution} open={isOpen} onClose={() => setOpen(false)} />
    </Card>
  );
}
