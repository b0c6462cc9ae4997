/** For the admin alone: the open disputes to decide, the parties of one, the link to its case, and in its head who has not written yet. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { TextLink } from '../../parts/links.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { buttonStyle } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatCounted, Id, shorten, Time } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { agentQuery } from '../../service.ts';
import { DisputesNote } from '../disputes/disputesNote.tsx';
import { DueWords, TimeToWait, Unheard, unheardWords, useWaitUntil } from './due.tsx';

export function Parties({ dispute }: { dispute: DisputeSummary }) {
  const { creator, caller, outcome } = dispute;
  const name = useCreatorName(dispute);
  return (
    <span className="mt-1 block text-sm">
      Caller <Id value={caller} kind="address" /> against <AgentLink dispute={dispute} /> by{' '}
      <CreatorLink wallet={creator} name={name} />
      {/* From this width on it stands beside the case, in the decision. */}
      {outcome === 'open' && unheardWords(dispute) && (
        <span className="mt-1 block text-ink lg:hidden">
          <Unheard dispute={dispute} />
        </span>
      )}
    </span>
  );
}

export function AgentLink({ dispute: { agent_id: agentId, agent_name } }: { dispute: DisputeSummary }) {
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }}>
      {agent_name ?? shorten(agentId)}
    </TextLink>
  );
}

/** To the creator's row, which has its other agents, its failed calls and its disputes. */
export const CreatorLink = ({ wallet, name }: { wallet: string; name: string }) => (
  <TextLink to="/admin" search={{ tab: 'creators', q: wallet }} title={wallet}>
    {name}
  </TextLink>
);

/** To the case, which the admin can decide while it is open. While a side may still write, nothing asks for that. */
export function CaseLink({ dispute, small = false }: { dispute: DisputeSummary; small?: boolean }) {
  const { execution_id: executionId, outcome } = dispute;
  const isOpen = outcome === 'open';
  const mayWait = useWaitUntil(dispute) !== null;
  return (
    <Link
      to="/admin/disputes/$executionId"
      params={{ executionId }}
      className={buttonStyle(isOpen && !mayWait ? 'primary' : 'plain', small)}
    >
      {isOpen ? 'Decide' : 'View'}
      <span className="sr-only">: dispute {shorten(executionId)}</span>
    </Link>
  );
}

/** The short wallet until the name is known, and for a delisted agent, which has no page. */
export function useCreatorName({ agent_id, creator }: DisputeSummary): string {
  const { data } = useQuery(agentQuery(agent_id));
  return data?.creator.display_name ?? shorten(creator);
}

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
      title={`Needs you: ${formatCounted(count, 'dispute')}`}
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
        <TextLink to="/admin" search={{ tab: 'disputes', outcome: 'open' }} className="mt-3 inline-block">
          All {formatCount(count)} open disputes
        </TextLink>
      )}
    </DisputesNote>
  );
}
