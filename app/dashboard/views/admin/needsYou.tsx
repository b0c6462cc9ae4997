/** Open disputes on the overview: the first ones by due time, each with a link to decide it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Unread } from '../../parts/trouble.tsx';
import { formatAmount, formatCount, shorten, Time } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { DisputesNote } from '../disputes/disputesNote.tsx';
import { DueWords, TimeToWait, unheardWords } from './due.tsx';
import { CaseLink } from './parties.tsx';

export function NeedsYou({ count }: { count: number }) {
  const query = useQuery(openQueueQuery);
  const { data, refetch } = query;
  const listed = data?.total;
  // The count is read more often. After a decision the list would still show a dispute that the count leaves out.
  useEffect(() => {
    if (listed !== undefined && listed !== count) void refetch();
  }, [listed, count, refetch]);
  return (
    <DisputesNote
      title={`Needs you: ${formatCount(count)} ${count === 1 ? 'dispute' : 'disputes'}`}
      disputes={data?.disputes ?? []}
      wordsOf={(dispute) => (
        <>
          <span className="font-medium">{dispute.agent_name ?? shorten(dispute.agent_id)}</span>, a call for{' '}
          {formatAmount(dispute.price_usdc)}: decide by <Time at={dispute.answer_due_at} />,{' '}
          <DueWords dispute={dispute} />. {unheardWords(dispute) ?? 'Both sides have written'}.
          <TimeToWait dispute={dispute} />
        </>
      )}
      buttonOf={(dispute) => <CaseLink dispute={dispute} />}
    >
      <Unread query={query} what="The disputes" className="h-8" />
      {count > OPEN_SHOWN && (
        <Link to="/admin" search={{ tab: 'disputes', outcome: 'open' }} className="mt-3 inline-block underline">
          All {formatCount(count)} open disputes
        </Link>
      )}
    </DisputesNote>
  );
}
