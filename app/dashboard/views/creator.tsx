/** A creator's agents with their earnings and state, and a link to list another. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { markOf } from '../../sdk/wire/agentMark.ts';
import type { OwnListing } from '../../sdk/wire/procedures.ts';
import type { AgentSummary, DailyStatement, StatementDay, StatementTotal } from '../../sdk/wire/wire.ts';
import { Health } from '../parts/badges.tsx';
import { useChainClock } from '../parts/chainClock.ts';
import { SignedIn } from '../parts/connect.tsx';
import { lastDays } from '../parts/range.tsx';
import { StatementButton } from '../parts/statement.tsx';
import { AtRight, Cell, Table } from '../parts/table.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Badge, buttonStyle, Card, cx, Empty, Figure, PageHead, QUIET_LINK, Skeleton } from '../parts/ui.tsx';
import { formatAmount, formatCount, formatNumber, Status, Time } from '../parts/values.tsx';
import { useUnanswered } from '../parts/waiting.tsx';
import { agentsQuery, configQuery, request } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { Introduction } from './listing/introduction.tsx';
import { isDraftKept } from './listing/kept.ts';
import { OpenDisputes } from './listing/openDisputes.tsx';
import {
  healthWords,
  heldCollateral,
  isAtMinimum,
  missingCollateral,
  ownListingsQuery,
  sumUsdc,
  takenText,
} from './listing/own.ts';
import type { ListingSearch } from './listing/search.ts';
import { DisputeWebhook } from './webhooks/disputeWebhook.tsx';

const POLL_MS = 60_000;
const LINK = 'text-accent underline underline-offset-2';

export default function View() {
  // A dispute that waits for a reply comes before another agent.
  const unanswered = useUnanswered();
  const { wallet } = useSession();
  const { data } = useQuery({ ...ownListingsQuery, enabled: Boolean(wallet) });
  return (
    <>
      <PageHead
        title="Your agents"
        about={
          <>
            Earnings, calls and disputes of each of your agents. Days are in UTC.
            {data && data.listings.length > 0 && (
              <>
                {' '}
                <Link to="/webhooks" className={LINK}>
                  Webhooks
                </Link>{' '}
                tell you of disputes while you are away.
              </>
            )}
          </>
        }
      >
        {data && data.listings.length > 0 && (
          <>
            {data.listings.length > 1 && (
              <Link to="/creator/calls" className={buttonStyle()}>
                Calls of all agents
              </Link>
            )}
            <StatementButton as="creator" />
            <Link to="/creator/new" className={buttonStyle(unanswered > 0 ? 'plain' : 'primary')}>
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
  return (
    <div className="grid gap-8">
      <div className="grid gap-3 empty:hidden">
        <OpenDisputes />
        <DisputeWebhook />
      </div>
      <Figures listings={listings} />
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
    <div className="grid gap-3 lg:grid-cols-3">
      <Figure
        label="Earned in the last 30 days, after the fee"
        value={ofMonth(({ earned_usdc }) => formatAmount(earned_usdc))}
        about={month && newestOf(month, ({ earned_usdc }) => formatNumber(earned_usdc))}
      />
      <Figure
        label="Calls in the last 30 days"
        value={ofMonth(({ executions }) => formatCount(executions))}
        about={month && `${newestOf(month, callsOf)}${refundedOf(month.total)}`}
      />
      <Figure
        label="Collateral held"
        value={formatAmount(sumUsdc(listings.map(heldCollateral)))}
        about={takenText(sumUsdc(listings.map(({ collateral }) => collateral.slashed_usdc)))}
      />
    </div>
  );
}

/** A figure of the last two days. */
const newestOf = ({ days }: DailyStatement, value: (day: StatementDay) => string): string =>
  `Today ${value(days.at(-1)!)}, yesterday ${value(days.at(-2)!)}.`;

/** Not the failed ones: an upheld dispute is no refund, and a refund may be no failure of the agent's. */
const refundedOf = ({ refunded }: StatementTotal): string =>
  refunded > 0 ? ` Refunded in 30 days, with or without a fault of the agent: ${formatCount(refunded)}.` : '';

const callsOf = ({ executions, refunded }: StatementDay): string =>
  `${formatCount(executions)}${refunded > 0 ? ` with ${formatCount(refunded)} refunded` : ''}`;

/** What needs its creator comes first: a dispute, then failures, then a pause. */
const urgency = ({ latest, open_disputes, status }: OwnListing, agent: AgentSummary | undefined): number =>
  open_disputes > 0 ? 3 : latest.failed > 0 || (agent && markOf(agent)) ? 2 : status === 'paused' ? 1 : 0;

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

const AMOUNTS = ['Price', 'Collateral', 'Open disputes', 'Calls', 'Failed', 'Earned'] as const;
/** Left out of the cards of a phone. */
const NOTHING: readonly ReactNode[] = ['0', formatAmount(0)];

function List({ listings, agents, label }: ListProps) {
  const { data: config } = useQuery(configQuery);
  const isLow = (listing: OwnListing) => listing.status === 'active' && isAtMinimum(listing, config);
  return (
    <div className="grid gap-2">
      <p className="text-sm text-faint">
        “Calls”, “Failed” (refunded by its fault, or with an upheld dispute) and “Earned”: since 00:00 UTC yesterday.
        {listings.some(isLow) && ' At the minimum of its collateral, any award of a dispute pauses an agent.'}
      </p>
      <Table
        label={label}
        hasCards
        head={['Agent', 'Status', ...AMOUNTS.map((name) => <AtRight key={name}>{name}</AtRight>)]}
      >
        {listings.map((listing) => (
          <Row
            key={listing.agent_id}
            listing={listing}
            agent={agents.get(listing.agent_id)}
            isLow={isLow(listing)}
            missing={config && missingCollateral(listing, config)}
          />
        ))}
      </Table>
    </div>
  );
}

interface RowProps {
  listing: OwnListing;
  agent: AgentSummary | undefined;
  /** Any award pauses it. */
  isLow: boolean;
  /** The collateral that its price needs beyond what it holds, USDC. */
  missing: number | undefined;
}

/** The whole row is a link to its agent; above it are those to its calls and disputes. */
function Row({ listing, agent, isLow, missing }: RowProps) {
  const { agent_id, name, status, price_usdc, latest, open_disputes } = listing;
  const to = { to: '/creator/$agentId', params: { agentId: agent_id } } as const;
  const inner = (search: ListingSearch, count: number) =>
    count === 0 ? (
      '0'
    ) : (
      <Link {...to} search={search} className={cx('relative z-1', QUIET_LINK)}>
        {formatCount(count)}
      </Link>
    );
  const warned = (search: ListingSearch, count: number) =>
    count === 0 ? '0' : <Badge tone="warn">{inner(search, count)}</Badge>;
  const values: [column: (typeof AMOUNTS)[number], value: ReactNode][] = [
    ['Price', formatAmount(price_usdc)],
    [
      'Collateral',
      <>
        {formatAmount(heldCollateral(listing))}
        {isLow && <span className="block text-xs text-faint">at the minimum</span>}
      </>,
    ],
    ['Open disputes', warned({ tab: 'disputes' }, open_disputes)],
    ['Calls', inner({ tab: 'received' }, latest.executions)],
    ['Failed', warned({ tab: 'received', failed: true }, latest.failed)],
    ['Earned', formatAmount(latest.earned_usdc)],
  ];
  return (
    <tr className="relative hover:bg-sunken max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:gap-y-1!">
      <td className="min-w-40 max-sm:min-w-0">
        <Link {...to} className={cx('font-medium after:absolute after:inset-0 max-sm:text-base', QUIET_LINK)}>
          {name ?? 'Agent without a description'}
        </Link>
        {status === 'delisted' && (
          <p className="text-sm text-faint">
            <Returns listing={listing} />
          </p>
        )}
      </td>
      <td>
        <span className="inline-flex gap-1.5 whitespace-nowrap">
          <Status value={status} />
          <Health agent={agent} />
        </span>
        {status === 'active' && <Unmarked listing={listing} agent={agent} />}
        {status === 'paused' && (
          <span className="block text-xs text-faint">
            {pauseReason(listing, missing)}
            <Link {...to} className={cx('relative z-1', QUIET_LINK)}>
              resume it
            </Link>
          </span>
        )}
      </td>
      {values.map(([column, value]) => (
        <Cell
          key={column}
          of={column}
          className={cx(
            'whitespace-nowrap tabular-nums max-sm:col-span-2 sm:text-right',
            NOTHING.includes(value) && column !== 'Calls' && 'max-sm:hidden',
          )}
        >
          <span>{value}</span>
        </Cell>
      ))}
    </tr>
  );
}

/** Only an award pauses an agent besides its creator. Empty if it is not known which did. */
function pauseReason({ collateral }: OwnListing, missing: number | undefined): string {
  if (missing === undefined) return '';
  if (missing > 0) return 'collateral too low, ';
  return collateral.slashed_usdc === 0 ? 'by you, ' : '';
}

/** The health of an agent that has no mark, once that is known. */
function Unmarked({ listing, agent }: Pick<RowProps, 'listing' | 'agent'>) {
  if (listing.total_executions > 0 && (!agent || markOf(agent))) return null;
  return <span className="block text-xs text-faint">{healthWords(listing)}</span>;
}

/** When the collateral of a delisted agent comes back. */
function Returns({ listing: { collateral } }: { listing: OwnListing }) {
  const now = useChainClock(!collateral.returned);
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
