/** One agent for its creator: figures, changes, tests, and actions that only its wallet may sign. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Tabs } from 'radix-ui';
import { type ReactNode, useMemo, useState } from 'react';
import type { OwnListing } from '../../sdk/wire/procedures.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Health } from '../parts/badges.tsx';
import { SignedIn } from '../parts/connect.tsx';
import { focusContent } from '../parts/focus.ts';
import { Back, HeadFacts } from '../parts/heads.tsx';
import { AskBeforeLeaving } from '../parts/leave.tsx';
import { OpenIn, TabLine } from '../parts/tabs.tsx';
import { useNotify } from '../parts/toasts.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Button, buttonStyle, Empty, Note, PageHead } from '../parts/ui.tsx';
import { formatAmount, Id, Status, Time } from '../parts/values.tsx';
import { call, exampleQuery, explain, queryClient } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { DisputeList } from './disputes.tsx';
import { CollateralCard, DelistCard, PauseButton } from './listing/actions.tsx';
import { type Draft, draftOf, isSame } from './listing/draft.ts';
import { Edit } from './listing/edit.tsx';
import { RotateCard } from './listing/keyFields.tsx';
import { Overview, ownAgentQuery } from './listing/overview.tsx';
import { ownListingsQuery } from './listing/own.ts';
import { Received } from './listing/received.tsx';
import { type ListingSearch, TABS, type Tab } from './listing/search.ts';
import { type TestOutcome, TestPanel } from './listing/testPanel.tsx';

const route = getRouteApi('/creator/$agentId');

export default function View() {
  return (
    <SignedIn title="Your agent" why="Only the wallet that listed an agent may manage it.">
      <Found />
    </SignedIn>
  );
}

function Found() {
  const { agentId } = route.useParams();
  const query = useQuery(ownListingsQuery);
  if (query.error || !query.data) {
    return (
      <>
        {query.error && <PageHead title="Your agent" />}
        <Unread query={query} what="The agent" className="h-96" />
      </>
    );
  }
  const listing = query.data.listings.find(({ agent_id }) => agent_id === agentId);
  if (listing) return <Manage key={agentId} listing={listing} />;
  return (
    <>
      <PageHead title="Your agent" />
      <Empty title="This wallet has no such agent">
        <p className="mb-5">Connect the wallet that listed it. A new listing appears here after a few seconds.</p>
        <Link to="/creator" className={buttonStyle()}>
          To your agents
        </Link>
      </Empty>
    </>
  );
}

/** The tabs of a delisted agent. */
const ALWAYS: readonly Tab[] = ['overview', 'received', 'disputes', 'settings'];

const LABELS: Record<Tab, string> = {
  overview: 'Overview',
  received: 'Calls',
  disputes: 'Disputes',
  edit: 'Edit',
  test: 'Test',
  settings: 'Manage',
};

function labelOf(tab: Tab, isChanged: boolean, disputes: number): ReactNode {
  if (tab === 'disputes') return <OpenIn name={LABELS.disputes} count={disputes} />;
  return (
    <span>
      {LABELS[tab]}
      {tab === 'edit' && (
        <>
          <span className="max-sm:sr-only"> and price</span>
          {isChanged && <span className="text-warn"> (unsaved)</span>}
        </>
      )}
    </span>
  );
}

function Manage({ listing }: { listing: OwnListing }) {
  const { tab: asked = 'overview', failed = false, call, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { wallet } = useSession();
  const show = (search: ListingSearch) => void navigate({ search, replace: true, resetScroll: false });
  const setTab = (next: Tab) => show(next === 'overview' ? {} : { tab: next });
  // Only changed fields are kept, so that the others follow the chain.
  const [changes, setChanges] = useState<Partial<Draft>>({});
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const { data: agent } = useQuery(ownAgentQuery(listing));
  const present = useMemo(() => draftOf(listing), [listing]);
  const draft = { ...present, ...changes };
  const change = (part: Partial<Draft>) => setChanges((before) => ({ ...before, ...part }));
  const isDelisted = listing.status === 'delisted';
  const shown = TABS.filter((name) => !isDelisted || ALWAYS.includes(name));
  const tab = shown.includes(asked) ? asked : 'overview';
  const isChanged = !isDelisted && !isSame(draft, present);
  return (
    <>
      <Back to="/creator">Your agents</Back>
      <PageHead
        title={
          <span className="flex items-center gap-3">
            <Avatar address={listing.agent_id} picture={agent?.picture_path} className="size-8" />
            <span className="min-w-0 break-words">{listing.name ?? 'Agent without a description'}</span>
          </span>
        }
        about={
          <HeadFacts
            facts={[
              <span key="status" className="inline-flex gap-x-2">
                <Status value={listing.status} />
                <Health agent={agent} />
              </span>,
              <span key="price" className="tabular-nums">
                {formatAmount(listing.price_usdc)} a call
              </span>,
              <span key="id">
                Agent ID <Id value={listing.agent_id} kind="address" />
              </span>,
            ]}
          />
        }
      >
        {!isDelisted && (
          <>
            <Link to="/agents/$agentId" params={{ agentId: listing.agent_id }} className={buttonStyle()}>
              See its page
            </Link>
            <PauseButton listing={listing} />
          </>
        )}
      </PageHead>
      <Tabs.Root value={tab} onValueChange={(next) => setTab(next as Tab)}>
        <TabLine
          label="About this agent"
          tabs={shown.map((name) => [name, labelOf(name, isChanged, listing.open_disputes)])}
        />
        <Tabs.Content value="overview">
          <Overview listing={listing} />
        </Tabs.Content>
        <Tabs.Content value="received">
          <Received
            agentId={listing.agent_id}
            only={call}
            failed={failed}
            onFailed={(next) => show({ tab: 'received', ...(next && { failed: true }) })}
            onFind={(found) => void navigate({ search: { tab: 'received', call: found }, resetScroll: false })}
          />
        </Tabs.Content>
        <Tabs.Content value="disputes">
          {wallet && (
            <DisputeList
              wallet={wallet}
              agentId={listing.agent_id}
              page={page}
              onPage={(next) => show({ tab: 'disputes', ...(next > 1 && { page: next }) })}
              empty={
                <Empty title="No disputes">
                  A caller can dispute a paid call while its dispute window is open. It then appears here.
                </Empty>
              }
            />
          )}
        </Tabs.Content>
        <Tabs.Content value="edit">
          <Edit
            listing={listing}
            present={present}
            draft={draft}
            onChange={change}
            onReset={() => setChanges({})}
            onTest={() => setTab('test')}
          />
        </Tabs.Content>
        <Tabs.Content value="test">
          <h2 className="sr-only">Test call</h2>
          <ShownExample listing={listing} />
          <TestPanel
            draft={draft}
            onChange={change}
            signingKey={listing.signing_key}
            outcome={outcome}
            onOutcome={(next) => {
              setOutcome(next);
              if (next?.ok) void queryClient.invalidateQueries(exampleQuery(listing.agent_id));
            }}
          />
        </Tabs.Content>
        {/* Stays mounted, so that a new key survives a switch of tabs during its rotation. */}
        <Tabs.Content value="settings" forceMount className="grid gap-6 data-[state=inactive]:hidden">
          <CollateralCard listing={listing} />
          <RotateCard listing={listing} />
          {!isDelisted && <DelistCard listing={listing} />}
        </Tabs.Content>
      </Tabs.Root>
      <AskBeforeLeaving when={isChanged} title="Leave without saving?">
        Your changes to this agent are not signed yet and are lost when you leave.
      </AskBeforeLeaving>
    </>
  );
}

function ShownExample({ listing: { agent_id, metadata_hash } }: { listing: OwnListing }) {
  const { data: example } = useQuery(exampleQuery(agent_id));
  const notify = useNotify();
  const withdrawal = useMutation({
    mutationFn: () => call('listings.withdrawExample', { metadata_hash }),
    onSuccess: async () => {
      await queryClient.invalidateQueries(exampleQuery(agent_id));
      focusContent();
      notify('Example withdrawn', 'The agent’s page shows no example until you publish another test.');
    },
  });
  if (!example) return null;
  return (
    <div className="mb-6">
      <Note title="The agent’s page shows an example">
        <p className="mb-3">
          “{example.task}”, tested on <Time at={example.tested_at} />.
        </p>
        <Button small busy={withdrawal.isPending} onClick={() => withdrawal.mutate()}>
          Withdraw it
        </Button>
        {withdrawal.error && <p className="mt-3 text-bad">{explain(withdrawal.error)}</p>}
      </Note>
    </div>
  );
}
