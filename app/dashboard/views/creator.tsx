/** A creator's agents with their earnings and state, and a link to list another. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { markOf } from '../../sdk/wire/agentMark.ts';
import type { OwnListing } from '../../sdk/wire/procedures.ts';
import type { AgentSummary, StatementTotal } from '../../sdk/wire/wire.ts';
import { SignedIn } from '../parts/connect.tsx';
import { lastDays } from '../parts/range.tsx';
import { StatementButton } from '../parts/statement.tsx';
import { Unread } from '../parts/trouble.tsx';
import { buttonStyle, Empty, Figure, Note, PageHead, Skeleton } from '../parts/ui.tsx';
import { formatAmount, formatCount } from '../parts/values.tsx';
import { agentsQuery, request } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { AgentsTable } from './listing/agentsTable.tsx';
import { Introduction } from './listing/introduction.tsx';
import { isDraftKept } from './listing/kept.ts';
import { OpenDisputes } from './listing/openDisputes.tsx';
import { heldCollateral, ownListingsQuery, sumUsdc, takenText } from './listing/own.ts';
import { DisputeWebhook } from './webhooks/disputeWebhook.tsx';
import { endpointsQuery } from './webhooks/endpoints.ts';

const POLL_MS = 60_000;

export default function View() {
  const { wallet } = useSession();
  const { data } = useQuery({ ...ownListingsQuery, enabled: Boolean(wallet) });
  const hasListings = data !== undefined && data.listings.length > 0;
  const isDisputed = hasListings && data.listings.some(hasDispute);
  return (
    <>
      <PageHead title="Your agents" about="Earnings, calls and disputes of your agents, by days in UTC.">
        {hasListings && (
          <>
            {data.listings.length > 1 && (
              <Link to="/creator/calls" className={buttonStyle()}>
                Calls of all agents
              </Link>
            )}
            <StatementButton as="creator" />
            <Link to="/creator/new" className={buttonStyle(isDisputed ? 'plain' : 'primary')}>
              List an agent
            </Link>
          </>
        )}
      </PageHead>
      <SignedIn why="Your agents belong to the wallet that listed them. Connect it to see them, or to list the first.">
        <Listings />
      </SignedIn>
    </>
  );
}

function Listings() {
  const query = useQuery(ownListingsQuery);
  const { wallet } = useSession();
  // As callers see them; only active ones.
  const { data: offered } = useQuery({
    ...agentsQuery({ creator: wallet ?? '', limit: 100 }),
    enabled: wallet != null,
  });
  // Above the figures in a dispute: read before them, so that they do not move.
  const webhooks = useQuery(endpointsQuery(wallet));
  const isWaiting = webhooks.isPending && webhooks.failureCount === 0;
  if (query.error || !query.data) return <Unread query={query} what="Your agents" className="h-96" />;
  if (isWaiting) return <Skeleton className="h-96" />;
  const { listings } = query.data;
  if (listings.length === 0) return <Begin />;
  const agents = new Map(offered?.agents.map((agent) => [agent.agent_id, agent]));
  const urgencyOf = (listing: OwnListing) => urgency(listing, agents.get(listing.agent_id));
  const active = listings
    .filter(({ status }) => status !== 'delisted')
    .toSorted((one, other) => urgencyOf(other) - urgencyOf(one));
  const isDisputed = listings.some(hasDispute);
  const past = listings.filter(({ status }) => status === 'delisted');
  return (
    <div className="grid gap-8">
      <OpenDisputes />
      {isDisputed && <DisputeWebhook />}
      <Figures listings={listings} />
      {isDraftKept() && <Resume />}
      {active.length > 0 && <AgentsTable listings={active} agents={agents} label="Your agents" />}
      {past.length > 0 && (
        <section className="grid gap-3">
          <h2 className="text-lg font-semibold">Delisted</h2>
          <AgentsTable listings={past} agents={agents} label="Delisted agents" />
        </section>
      )}
      {!isDisputed && <DisputeWebhook />}
    </div>
  );
}

/** What the agents earned lately, and what backs them. */
function Figures({ listings }: { listings: readonly OwnListing[] }) {
  const { wallet } = useSession();
  const { data: month, error } = useQuery({
    queryKey: ['statement', 'creator', wallet],
    queryFn: () => request('getDailyStatement', { role: 'creator', ...lastDays() }),
    refetchInterval: POLL_MS,
  });
  const ofMonth = (value: (total: StatementTotal) => string) =>
    month ? value(month.total) : error ? '–' : <Skeleton className="h-7 w-28 sm:h-8" />;
  return (
    <div className="grid grid-cols-2 gap-3 max-lg:*:last:col-span-2 lg:grid-cols-3">
      <Figure
        label="Earned in the last 30 days, after the fee"
        value={ofMonth(({ earned_usdc }) => formatAmount(earned_usdc))}
      />
      <Figure
        label="Calls in the last 30 days"
        value={ofMonth(({ executions }) => formatCount(executions))}
        about={
          month &&
          month.total.refunded > 0 &&
          `${formatCount(month.total.refunded)} refunded, with or without a fault of the agent`
        }
      />
      <Figure
        label="Collateral held"
        value={formatAmount(sumUsdc(listings.map(heldCollateral)))}
        about={takenText(sumUsdc(listings.map(({ collateral }) => collateral.slashed_usdc)))}
      />
    </div>
  );
}

const hasDispute = ({ open_disputes }: OwnListing): boolean => open_disputes > 0;

/** What needs its creator comes first: a dispute, then failures, then a pause. */
const urgency = ({ latest, open_disputes, status }: OwnListing, agent: AgentSummary | undefined): number =>
  open_disputes > 0 ? 3 : latest.failed > 0 || (agent && markOf(agent)) ? 2 : status === 'paused' ? 1 : 0;

function Resume() {
  return (
    <Note>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p>This browser has a draft of another agent.</p>
        <Link to="/creator/new" className={buttonStyle()}>
          Continue the draft
        </Link>
      </div>
    </Note>
  );
}

/** Shown without listings. */
function Begin() {
  return (
    <div className="grid gap-8">
      {isDraftKept() && <Resume />}
      <Empty title="You have listed no agent yet">
        <p className="mb-5">Your code stays on your server, and you are paid for each signed result.</p>
        <Link to="/creator/new" className={buttonStyle('primary')}>
          List your first agent
        </Link>
      </Empty>
      <Introduction />
    </div>
  );
}
