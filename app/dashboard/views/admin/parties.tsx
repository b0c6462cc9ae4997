/** For the admin alone: the open disputes to decide, the parties of one, the link to its case, and in its head who has not written yet. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useEffect } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { CellLink, TextLink } from '../../parts/links.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Badge, Button, buttonStyle } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatCounted, Id, shorten, Time } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { agentQuery, call } from '../../service.ts';
import { DisputesNote } from '../disputes/disputesNote.tsx';
import { Due, DueWords, Unheard, unheardWords, useWaitUntil, waitUntil } from './due.tsx';

interface OpenProps {
  dispute: DisputeSummary;
}

export function Parties({ dispute }: OpenProps) {
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

export const AgentLink = ({ dispute: { agent_id: agentId, agent_name } }: OpenProps) => (
  <CellLink to="/agents/$agentId" params={{ agentId }}>
    {agent_name ?? shorten(agentId)}
  </CellLink>
);

/** To the creator's row, which has its other agents, its failed calls and its disputes. */
export const CreatorLink = ({ wallet, name }: { wallet: string; name: string }) => (
  <CellLink to="/admin" search={{ tab: 'creators', q: wallet }} title={wallet}>
    {name}
  </CellLink>
);

/** To the case, which the admin can decide while it is open. While a side may still write, nothing asks for that. */
export function CaseLink({ dispute, small = false }: { dispute: DisputeSummary; small?: boolean }) {
  const { execution_id: executionId, outcome } = dispute;
  const mayWait = useWaitUntil(dispute) !== null;
  const asks = outcome === 'open' && !mayWait;
  return (
    <Link
      to="/admin/disputes/$executionId"
      params={{ executionId }}
      className={buttonStyle(asks ? 'primary' : 'plain', small)}
    >
      {asks ? 'Decide' : 'View'}
      <span className="sr-only">: dispute {shorten(executionId)}</span>
    </Link>
  );
}

/** The creator's row in the list of creators, as the only one; it is not logged. */
export const creatorQuery = (wallet: string) =>
  queryOptions({
    queryKey: ['creators.list', 'of', wallet],
    queryFn: () => call('creators.list', { q: wallet, limit: 1 }),
    staleTime: 60_000,
  });

/** In the head of the case. From a wide window on, the panel has the time. */
export function OpenBadge({ dispute, children }: OpenProps & { children: ReactNode }) {
  return (
    <>
      <Badge tone="warn">{children}</Badge>
      <span className="lg:hidden">
        <Due dispute={dispute} />
      </span>
    </>
  );
}

/** On a phone, to the panel below the case. */
export function ToDecision({ dispute, panel }: OpenProps & { panel: RefObject<HTMLElement | null> }) {
  const mayWait = useWaitUntil(dispute) !== null;
  return (
    <Button kind={mayWait ? 'plain' : 'primary'} className="lg:hidden" onClick={() => panel.current?.focus()}>
      Go to the decision
    </Button>
  );
}

/** The short wallet until the name is known, and for a delisted agent, which has no page. */
export function useCreatorName({ agent_id, creator }: DisputeSummary): string {
  const { data } = useQuery(agentQuery(agent_id));
  return data?.creator.display_name ?? shorten(creator);
}

/** Open disputes: those to decide, and those in which a side can still write. */
export function OpenDisputes({ count, waiting }: { count: number; waiting: number }) {
  const query = useQuery(openQueueQuery);
  const { data, refetch } = query;
  const now = useChainClock() ?? Date.now();
  const listed = data?.total;
  // The count is read more often. After a decision the list would still show a dispute that the count leaves out.
  useEffect(() => {
    if (listed !== undefined && listed !== count) void refetch();
  }, [listed, count, refetch]);
  const unread = <Unread query={query} what="The disputes" className="h-36 sm:h-17.5" />;
  if (!data) return unread;
  const toWait = data.disputes.filter((dispute) => waitUntil(dispute, now) !== null);
  const toDecide = data.disputes.filter((dispute) => !toWait.includes(dispute));
  const until = toWait.map((dispute) => waitUntil(dispute, now)!).toSorted()[0];
  return (
    <>
      {count > waiting && (
        <DisputesNote
          title={`Needs you: ${formatCounted(count - waiting, 'dispute')}`}
          disputes={toDecide}
          wordsOf={(dispute) => <About dispute={dispute} />}
          buttonOf={(dispute) => <CaseLink dispute={dispute} />}
        />
      )}
      {waiting > 0 && (
        <DisputesNote
          isCalm
          title={
            <>
              Nothing to do yet: {formatCounted(waiting, 'dispute')} in which a side may still write
              {until && (
                <>
                  , the first until <Time at={until} />
                </>
              )}
            </>
          }
          disputes={toWait}
          wordsOf={(dispute) => <About dispute={dispute} />}
          buttonOf={(dispute) => <CaseLink dispute={dispute} />}
        />
      )}
      {unread}
      {count > OPEN_SHOWN && (
        <TextLink to="/admin" search={{ tab: 'disputes', outcome: 'open' }} className="justify-self-start text-sm">
          All {formatCount(count)} open disputes
        </TextLink>
      )}
    </>
  );
}

function About({ dispute }: { dispute: DisputeSummary }) {
  const { agent_name, agent_id, price_usdc, answer_due_at } = dispute;
  return (
    <>
      <span className="font-medium">{agent_name ?? shorten(agent_id)}</span>, a call for {formatAmount(price_usdc)}:
      decide by <Time at={answer_due_at} />, <DueWords dispute={dispute} />.{' '}
      {unheardWords(dispute) ?? 'Both sides have written'}.
    </>
  );
}
