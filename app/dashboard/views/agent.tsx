/** One agent: its purpose and quality, how to call it from a program, and a form to call it here. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Tabs } from 'radix-ui';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { MarketplaceError } from '../../sdk/client/error.ts';
import type { AgentFull } from '../../sdk/wire/wire.ts';
import { Avatar } from '../parts/avatar.tsx';
import { ForTests, Health, isForTests, isShownTag, TEST_TAG, Verified } from '../parts/badges.tsx';
import { NotFound } from '../parts/explained.tsx';
import { Failed } from '../parts/failed.tsx';
import { TextLink } from '../parts/links.tsx';
import { TabLine } from '../parts/tabs.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Badge, Button, buttonStyle, PageHead, Skeleton, withUnit } from '../parts/ui.tsx';
import { formatAmount } from '../parts/values.tsx';
import { agentQuery, developmentWalletsPath, queryClient } from '../service.ts';
import { signIn, useSession } from '../wallet/session.ts';
import { useShared, useTestWallet } from '../wallet/wallets.ts';
import { Overview, Purpose } from './agent/overview.tsx';
import { Paused } from './agent/paused.tsx';

const CodeTab = lazy(() => import('./agent/code.tsx'));
const RunTab = lazy(() => import('./agent/run.tsx'));

const route = getRouteApi('/agents/$agentId');
type Tab = 'about' | 'run' | 'code';

const WHY_NOT = 'Paused: calls are refused until its creator resumes it';

export default function Agent() {
  const { agentId } = route.useParams();
  const { data, error, refetch } = useQuery(agentQuery(agentId));
  // Known data stay visible, even if a later read fails.
  if (data) return <Loaded key={agentId} agent={data} />;
  if (!error) return <Loading agentId={agentId} />;
  if (error instanceof MarketplaceError && error.code === 'agent_not_found') {
    return <NotFound title="Agent not found">The link may be wrong, or the agent’s creator has removed it.</NotFound>;
  }
  return (
    <>
      <PageHead title="Agent" />
      <Trouble error={error} what="This agent" onRetry={refetch} />
    </>
  );
}

function Loaded({ agent }: { agent: AgentFull }) {
  const { tab = 'about' } = route.useSearch();
  const navigate = route.useNavigate();
  const { wallet, isKnown } = useSession();
  // Once opened, the Run tab stays mounted, so that its input survives a switch of tabs.
  const [hasRun, setHasRun] = useState(false);
  if (tab === 'run' && !hasRun) setHasRun(true);
  const runTab = useRef<HTMLButtonElement>(null);
  const isOffered = tab !== 'run' && agent.status === 'active';
  const open = (next: Tab) =>
    void navigate({ search: next === 'about' ? {} : { tab: next }, replace: true, resetScroll: false });
  const testWallet = useTestWallet();
  const isTrial = developmentWalletsPath() !== '' && !wallet;
  const isFree = useShared() || isTrial;
  const run = useMutation({
    mutationFn: async () => {
      if (isTrial && testWallet) await signIn(testWallet);
      open('run');
      // The button disappears while it has the focus.
      runTab.current?.focus();
    },
  });
  return (
    <>
      <PageHead
        title={<Title picture={<Avatar address={agent.agent_id} picture={agent.picture_path} />} name={agent.name} />}
        about={<About agent={agent} />}
      >
        <div className="grid gap-1">
          <div className="flex min-h-10 flex-wrap items-center gap-4 sm:justify-end">
            <p className="text-sm text-faint">
              <span className="text-xl font-semibold text-ink tabular-nums">
                {withUnit(formatAmount(agent.price_per_call_usdc))}
              </span>{' '}
              a call
            </p>
            {wallet === agent.creator.pubkey && (
              <Link to="/creator/$agentId" params={{ agentId: agent.agent_id }} className={buttonStyle()}>
                Manage
              </Link>
            )}
            {isOffered && (
              <Button
                kind="primary"
                busy={run.isPending}
                disabled={isTrial && !(isKnown && testWallet)}
                onClick={() => run.mutate()}
              >
                {isFree ? 'Try it free' : 'Fill in and run'}
              </Button>
            )}
          </div>
          {isOffered && isKnown && isTrial && (
            <p className="text-sm text-faint sm:text-right">
              Signs you in with a shared test wallet, which pays. Its other users see the call.
            </p>
          )}
          {isOffered && <Failed error={run.error} title="You are not signed in" />}
        </div>
      </PageHead>
      <ul aria-label="Tags" className="-mt-2 mb-6 flex flex-wrap gap-1.5">
        <li className="flex empty:hidden">
          <Health agent={agent} />
        </li>
        {isForTests(agent) && (
          <li className="flex">
            <Link to="/" search={{ tags: TEST_TAG }} className="flex">
              <ForTests />
            </Link>
          </li>
        )}
        {agent.tags.filter(isShownTag).map((tag) => (
          <li key={tag} className="flex">
            <Link to="/" search={{ tags: tag }} className="flex">
              <Badge className="hover:text-ink">{tag}</Badge>
            </Link>
          </li>
        ))}
      </ul>
      {agent.status === 'paused' && <Paused agent={agent} />}
      <Tabs.Root value={tab} onValueChange={(next) => open(next as Tab)}>
        <TabLine
          label="About this agent"
          tabs={[
            ['about', 'Overview'],
            // A call that has begun is shown to its end.
            [
              'run',
              agent.status === 'paused' ? 'Run (paused)' : 'Run',
              { ref: runTab, ...(agent.status === 'paused' && tab !== 'run' && { disabled: true, title: WHY_NOT }) },
            ],
            ['code', 'Code'],
          ]}
        />
        <Panel value="about">
          <Overview agent={agent} />
        </Panel>
        <Panel value="run" isKept={hasRun}>
          <RunTab agent={agent} />
        </Panel>
        <Panel value="code">
          <CodeTab agent={agent} />
        </Panel>
      </Tabs.Root>
    </>
  );
}

function Panel({ value, isKept = false, children }: { value: Tab; isKept?: boolean; children: ReactNode }) {
  return (
    <Tabs.Content value={value} {...(isKept && { forceMount: true })} className="data-[state=inactive]:hidden">
      <Suspense fallback={<Skeleton className="h-96" />}>{children}</Suspense>
    </Tabs.Content>
  );
}

/** Its purpose, and its creator with a link to all of the creator's agents. */
function About({ agent: { tagline, creator } }: { agent: AgentFull }) {
  return (
    <>
      {tagline}
      <span className="mt-1 block text-sm">
        by{' '}
        <TextLink to="/" search={{ creator: creator.pubkey }}>
          {/* A name may change the direction of what follows it. */}
          <bdi>{creator.display_name}</bdi>
        </TextLink>{' '}
        {creator.verified && <Verified />}
      </span>
    </>
  );
}

function Title({ picture, name }: { picture: ReactNode; name: string }) {
  return (
    <span className="flex items-center gap-3">
      {picture}
      {name}
    </span>
  );
}

/** What a list of agents contains, and the drawing of the document besides. */
export type KnownAgent = Pick<AgentFull, 'agent_id' | 'name' | 'tagline'> & Partial<Pick<AgentFull, 'description'>>;

/** Shows what is already known of the agent. */
function Loading({ agentId }: { agentId: string }) {
  const lists = queryClient.getQueriesData<{ agents: KnownAgent[] }>({ queryKey: ['agents'] });
  const known = lists.flatMap(([, page]) => page?.agents ?? []).find(({ agent_id }) => agent_id === agentId);
  return (
    <div aria-busy="true">
      {known ? (
        <PageHead title={<Title picture={<Skeleton className="size-10" />} name={known.name} />} about={known.tagline}>
          <Skeleton className="h-10 w-60" />
        </PageHead>
      ) : (
        <>
          <Skeleton className="h-8 w-60" />
          <Skeleton className="mt-3 mb-6 h-5 w-96 max-w-full" />
        </>
      )}
      <Skeleton className="-mt-2 h-5 w-40" />
      <Skeleton className="mt-6 mb-8 h-9 w-full" />
      {known?.description ? (
        <div className="grid gap-x-12 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <Purpose text={known.description} isCut />
        </div>
      ) : (
        <Skeleton className="h-96" />
      )}
    </div>
  );
}
