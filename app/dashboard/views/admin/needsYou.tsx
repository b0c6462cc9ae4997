/** Open disputes on the overview: the first ones by due time, each with a link to decide it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Unread } from '../../parts/trouble.tsx';
import { buttonStyle, Note } from '../../parts/ui.tsx';
import { formatAmount, formatCount, shorten, Time } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { DueWords } from './due.tsx';

export function NeedsYou({ count }: { count: number }) {
  const query = useQuery(openQueueQuery);
  const { data, refetch } = query;
  const listed = data?.total;
  // The count is read more often. After a decision the list would still show a dispute that the count leaves out.
  useEffect(() => {
    if (listed !== undefined && listed !== count) void refetch();
  }, [listed, count, refetch]);
  return (
    <Note tone="warn" title={`Needs you: ${formatCount(count)} ${count === 1 ? 'dispute' : 'disputes'}`}>
      <Unread query={query} what="The disputes" className="h-8" />
      <ul className="grid gap-3 text-ink">
        {data?.disputes.map((dispute) => (
          <li
            key={dispute.execution_id}
            className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 sm:flex-nowrap"
          >
            <span className="min-w-0">
              <span className="font-medium">{dispute.agent_name ?? shorten(dispute.agent_id)}</span>, a call for{' '}
              {formatAmount(dispute.price_usdc)}: decide by <Time at={dispute.answer_due_at} />,{' '}
              <DueWords dispute={dispute} />
            </span>
            <Link
              to="/admin/disputes/$executionId"
              params={{ executionId: dispute.execution_id }}
              className={buttonStyle('plain', true)}
            >
              Read and decide
            </Link>
          </li>
        ))}
      </ul>
      {count > OPEN_SHOWN && (
        <Link to="/admin" search={{ tab: 'disputes', outcome: 'open' }} className="mt-3 inline-block underline">
          All {formatCount(count)} open disputes
        </Link>
      )}
    </Note>
  );
}
