/** A wallet's disputes: those that it opened, and those about its own agents. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { DECISION_SECONDS } from '../../sdk/wire/choices.ts';
import type { DisputeSummary } from '../../sdk/wire/procedures.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Anchor, TextLink } from '../parts/links.tsx';
import { Pages, pageOf } from '../parts/pages.tsx';
import { SharedNote } from '../parts/sharedNote.tsx';
import { Unread } from '../parts/trouble.tsx';
import { buttonStyle, Empty, PageHead } from '../parts/ui.tsx';
import { formatSpan } from '../parts/values.tsx';
import { call, configQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { DisputeCard } from './executions/dispute.tsx';
import { DisputeWebhook } from './webhooks/disputeWebhook.tsx';

const route = getRouteApi('/disputes');
const PAGE_SIZE = 20;
const READ_AGAIN_MS = 30_000;
/** In the order of the service: open ones first, because they may need somebody. */
const PARTS: readonly [title: string, isIn: (dispute: DisputeSummary) => boolean][] = [
  ['Open', ({ outcome }) => outcome === 'open'],
  ['Ended', ({ outcome }) => outcome !== 'open'],
];

export default function View() {
  const { wallet } = useSession();
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: config } = useQuery(configQuery);
  return (
    <>
      <PageHead
        title="Disputes"
        about={
          <>
            To dispute a call, open it in <TextLink to="/executions">Your calls</TextLink>
            {config && `, within ${formatSpan(config.dispute_window_seconds)} of its result`}. The admin should decide
            within {formatSpan(DECISION_SECONDS)}; if upheld, the creator’s collateral pays.{' '}
            <Anchor href="/docs#disputes">How it works</Anchor>
          </>
        }
      />
      <SignedIn why="Disputes are shown to the caller who opened them and to the creator of the agent.">
        <SharedNote>These are the disputes of all users of this shared test wallet, which pays their bonds.</SharedNote>
        {wallet && (
          <DisputeList
            wallet={wallet}
            page={page}
            onPage={(next) => navigate({ search: next > 1 ? { page: next } : {} })}
            empty={
              <Empty title="No disputes">
                <p className="mb-5">Disputes that you open, and those about your agents, appear here.</p>
                <Link to="/executions" className={buttonStyle('primary')}>
                  Your calls
                </Link>
              </Empty>
            }
          />
        )}
      </SignedIn>
    </>
  );
}

interface DisputeListProps {
  wallet: string;
  /** Only about this agent of the wallet. */
  agentId?: string;
  page: number;
  onPage(page: number): void;
  /** Shown if there are none. */
  empty: ReactNode;
}

export function DisputeList({ wallet, agentId, page, onPage, empty }: DisputeListProps) {
  const { isCreator } = useSession();
  const query = useQuery({
    queryKey: ['disputes', wallet, agentId, page],
    queryFn: () =>
      call('disputes.mine', {
        ...(agentId !== undefined && { agent_id: agentId }),
        ...pageOf(page, PAGE_SIZE),
      }),
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  if (!data) return <Unread query={query} what="The disputes" className="h-64" />;
  const webhook = isCreator && <DisputeWebhook />;
  if (data.disputes.length === 0) {
    return (
      <div className="grid gap-5">
        {empty}
        {webhook}
      </div>
    );
  }
  return (
    <>
      <div className="grid gap-8">
        {PARTS.map(([title, isIn]) => {
          const disputes = data.disputes.filter(isIn);
          return (
            disputes.length > 0 && (
              <section key={title}>
                <h2 className="mb-3 text-lg font-semibold">{title}</h2>
                <ul className="grid gap-4">
                  {disputes.map((dispute) => (
                    <li key={dispute.execution_id}>
                      <DisputeCard dispute={dispute} wallet={wallet} listed isOfAgent={agentId !== undefined} />
                    </li>
                  ))}
                </ul>
              </section>
            )
          );
        })}
      </div>
      {data.total > PAGE_SIZE && <Pages page={page} size={PAGE_SIZE} total={data.total} onPage={onPage} />}
      <div className="mt-6 empty:hidden">{webhook}</div>
    </>
  );
}
