/** The calls that an agent's server received: the request, the answer, and the reason of a refund. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReceivedCall, ReceivedCallContent } from '../../../sdk/wire/procedures.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { Button, Checkbox, Empty, Facts, Skeleton } from '../../parts/ui.tsx';
import { Code, formatDuration, Id, Status, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';

const EVERY_MS = 10_000;

export function Received({ agentId }: { agentId: string }) {
  const [failed, setFailed] = useState(false);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['listings', 'calls', agentId, failed],
    queryFn: ({ pageParam }) =>
      call('listings.calls', { agent_id: agentId, failed, ...(pageParam && { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ calls, has_more }) => (has_more ? calls.at(-1)?.execution_id : undefined),
    refetchInterval: EVERY_MS,
  });
  const calls = data?.pages.flatMap((page) => page.calls);
  return (
    <section className="grid gap-4" aria-label="Received calls">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-faint">
          Ended calls of this agent, newest first. Request and answer are shown until the caller deletes them.
        </p>
        <Checkbox label="Only failed calls" checked={failed} onChange={({ target }) => setFailed(target.checked)} />
      </div>
      {error && !data && <Trouble error={error} what="The calls" onRetry={refetch} />}
      {!calls && !error && <Skeleton className="h-64" />}
      {calls?.length === 0 && (
        <Empty title={failed ? 'No call has failed' : 'No calls yet'}>
          {failed ? null : 'Each call appears here once it is paid or refunded.'}
        </Empty>
      )}
      {calls && calls.length > 0 && (
        <ul className="overflow-hidden rounded-xl border border-line bg-raised">
          {calls.map((one) => (
            <li key={one.execution_id} className="border-b border-line last:border-b-0">
              <Call received={one} />
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <div className="text-center">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older calls
          </Button>
        </div>
      )}
    </section>
  );
}

function Call({ received }: { received: ReceivedCall }) {
  const [isOpen, setOpen] = useState(false);
  const { execution_id, status, received_at, duration_ms, http_status, error } = received;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="grid gap-1 px-4 py-3 text-sm hover:bg-sunken/60">
        <span className="inline-flex flex-wrap items-center gap-x-4 gap-y-1">
          <Status value={status} />
          <Time at={received_at} />
          {duration_ms !== null && <span className="text-faint tabular-nums">{formatDuration(duration_ms)}</span>}
          <span className="text-faint tabular-nums">{http_status === null ? 'No answer' : `HTTP ${http_status}`}</span>
          <code className="font-mono text-[0.8125rem] text-faint">{execution_id.slice(0, 8)}</code>
        </span>
        {error && <span className="block">{error.message}</span>}
      </summary>
      {isOpen && <Content received={received} />}
    </details>
  );
}

function Content({ received }: { received: ReceivedCall }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['listings', 'call', received.execution_id],
    queryFn: () => call('listings.call', { execution_id: received.execution_id }),
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-4 pb-5">
      <Facts
        rows={[
          ['Execution', <Id key="id" value={received.execution_id} full />],
          received.error && ['Refunded because', received.error.message],
          received.error && ['Error code', <code key="code">{received.error.code}</code>],
        ]}
      />
      {error && !data && <Trouble error={error} what="The call" onRetry={refetch} />}
      {!data && !error && <Skeleton className="h-40" />}
      {data && <Bodies content={data} />}
    </div>
  );
}

function Bodies({ content: { call: received, request, answer } }: { content: ReceivedCallContent }) {
  if (request === null) return <p className="text-sm text-faint">The caller deleted request and answer.</p>;
  const said = answer?.kind === 'result' ? 'The result of your server' : 'The answer of your server';
  return (
    <>
      <section>
        <h3 className="mb-2 text-sm font-medium">What was sent</h3>
        <Code text={request} label="What was sent" />
      </section>
      <section>
        <h3 className="mb-2 text-sm font-medium">
          {said}
          {answer?.is_cut && <span className="font-normal text-faint">, beginning only</span>}
        </h3>
        {answer ? (
          <Code text={answer.text || '(empty)'} label={said} />
        ) : (
          <p className="text-sm text-faint">
            {received.http_status === null ? 'No answer came before the deadline.' : 'The answer is no longer kept.'}
          </p>
        )}
      </section>
    </>
  );
}
