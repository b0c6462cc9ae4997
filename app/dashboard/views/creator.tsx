/** A creator's agents with their earnings and state, and a link to list another. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { OwnListing } from '../../sdk/wire/procedures.ts';
import type { AgentSummary } from '../../sdk/wire/wire.ts';
import { Health, markOf, successOf } from '../parts/badges.tsx';
import { useChainClock } from '../parts/chainClock.ts';
import { SignedIn } from '../parts/connect.tsx';
import { StatementButton } from '../parts/statement.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Badge, buttonStyle, Card, cx, Empty, Figure, PageHead, Skeleton } from '../parts/ui.tsx';
import { formatAmount, formatCount, Status, Time } from '../parts/values.tsx';
import { useUnanswered } from '../parts/waiting.tsx';
import { agentsQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { Introduction } from './listing/introduction.tsx';
import { isDraftKept } from './listing/kept.ts';
import { OpenDisputes } from './listing/openDisputes.tsx';
import { heldCollateral, ownListingsQuery, sumUsdc, takenText } from './listing/own.ts';

export default function View() {
  // A dispute that waits for a reply comes before another agent.
  const unanswered = useUnanswered();
  return (
    <>
      <PageHead title="Your agents" about="Earnings, success and collateral of each of your agents.">
        <StatementButton as="creator" />
        <Link to="/creator/new" className={buttonStyle(unanswered > 0 ? 'plain' : 'primary')}>
          List an agent
        </Link>
      </PageHead>
      <SignedIn why="Your agents belong to the wallet that listed them. Connect it to see them, or to list the first.">
        <Listings />
      </SignedIn>
    </>
  );
}

function Listings() {
  const { data, error, isPending, refetch } = useQuery(ownListingsQuery);
  const { wallet } = useSession();
  // As callers see them; only active ones.
  const { data: offered } = useQuery({
    ...agentsQuery({ creator: wallet ?? '', limit: 100 }),
    enabled: wallet != null,
  });
  if (isPending) return <Skeleton className="h-96" />;
  if (error) {
    return <Trouble error={error} what="Your agents" onRetry={refetch} />;
  }
  const { listings } = data;
  if (listings.length === 0) return <Begin />;
  const agents = new Map(offered?.agents.map((agent) => [agent.agent_id, agent]));
  const urgencyOf = (listing: OwnListing) => urgency(listing, agents.get(listing.agent_id));
  const active = listings
    .filter(({ status }) => status !== 'delisted')
    .toSorted((one, other) => urgencyOf(other) - urgencyOf(one));
  const past = listings.filter(({ status }) => status === 'delisted');
  const taken = takenText(sumUsdc(listings.map(({ collateral }) => collateral.slashed_usdc)));
  return (
    <div className="grid gap-8">
      <OpenDisputes />
      <div className="grid gap-3">
        <div className="grid grid-cols-2 gap-3 *:first:max-lg:col-span-2 lg:grid-cols-3">
          <Figure
            label="Earned in all, after the fee"
            value={formatAmount(sumUsdc(listings.map(({ earned_usdc }) => earned_usdc)))}
          />
          <Figure label="Calls" value={formatCount(listings.reduce((sum, one) => sum + one.total_executions, 0))} />
          <Figure label="Collateral held" value={formatAmount(sumUsdc(listings.map(heldCollateral)))} />
        </div>
        {taken && <p className="text-sm text-faint">{taken}</p>}
      </div>
      {isDraftKept() && <Resume />}
      {active.length > 0 && <List listings={active} agents={agents} label="Your agents" />}
      {past.length > 0 && (
        <section className="grid gap-3">
          <h2 className="text-lg font-semibold">Delisted</h2>
          <List listings={past} agents={agents} label="Delisted agents" />
        </section>
      )}
    </div>
  );
}

/** What needs its creator comes first: a dispute, then failures, then a pause. */
const urgency = ({ open_disputes, status }: OwnListing, agent: AgentSummary | undefined): number =>
  open_disputes > 0 ? 3 : agent && markOf(agent) ? 2 : status === 'paused' ? 1 : 0;

function Resume() {
  return (
    <Card className="flex flex-wrap items-center justify-between gap-3 py-4">
      <p className="text-sm">This browser has a draft of another agent.</p>
      <Link to="/creator/new" className={buttonStyle('plain', true)}>
        Continue the draft
      </Link>
    </Card>
  );
}

interface ListProps {
  listings: readonly OwnListing[];
  agents: ReadonlyMap<string, AgentSummary>;
  label: string;
}

function List({ listings, agents, label }: ListProps) {
  return (
    <ul aria-label={label} className="grid gap-3">
      {listings.map((listing) => (
        <li key={listing.agent_id}>
          <Row listing={listing} agent={agents.get(listing.agent_id)} />
        </li>
      ))}
    </ul>
  );
}

function Row({ listing, agent }: { listing: OwnListing; agent: AgentSummary | undefined }) {
  const { agent_id, name, status, price_usdc, total_executions, earned_usdc, open_disputes } = listing;
  // On a phone two rows; the wide ones share the second.
  const figures: readonly (readonly [term: string, value: string, isWide?: true])[] = [
    ['Price', formatAmount(price_usdc)],
    ['Calls', formatCount(total_executions)],
    ['Delivered', successOf(listing)],
    ['Earned', formatAmount(earned_usdc), true],
    ['Collateral', formatAmount(heldCollateral(listing)), true],
  ];
  return (
    <Card className="relative grid gap-3 max-sm:p-4 transition-colors hover:border-strong lg:grid-cols-[minmax(0,1fr)_minmax(0,36rem)_auto] lg:items-center">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link
            to="/creator/$agentId"
            params={{ agentId: agent_id }}
            className="font-semibold after:absolute after:inset-0 after:rounded-xl"
          >
            {name ?? 'Agent without a description'}
          </Link>
          <Status value={status} />
          <Health agent={agent} />
          {open_disputes > 0 && (
            <Badge tone="warn">
              {open_disputes} open {open_disputes === 1 ? 'dispute' : 'disputes'}
            </Badge>
          )}
        </div>
        <p className="mt-1 text-xs text-faint">
          <Returns listing={listing} />
        </p>
      </div>
      <dl className="grid grid-cols-6 gap-x-1.5 gap-y-3 text-sm sm:grid-cols-5 sm:gap-x-4">
        {figures.map(([term, value, isWide]) => (
          <div key={term} className={isWide ? 'col-span-3 sm:col-span-1' : 'col-span-2 sm:col-span-1'}>
            <dt className="text-xs text-faint">{term}</dt>
            <dd className="whitespace-nowrap tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {/* The whole card is the link; this only shows where it leads. */}
      <span aria-hidden="true" className={cx(buttonStyle('plain', true), 'sm:justify-self-start')}>
        Manage
      </span>
    </Card>
  );
}

function Returns({ listing: { status, listed_at, collateral } }: { listing: OwnListing }) {
  const waits = status === 'delisted' && !collateral.returned;
  const now = useChainClock(waits);
  if (status !== 'delisted') {
    return (
      <>
        Listed <Time at={listed_at} />
      </>
    );
  }
  if (collateral.returned) return 'Its collateral was returned';
  if (!collateral.returnable_at) return 'Its collateral is held';
  if (now !== undefined && Date.parse(collateral.returnable_at) <= now) return 'Its collateral can be returned now';
  return (
    <>
      Its collateral can be returned from <Time at={collateral.returnable_at} /> on
    </>
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
