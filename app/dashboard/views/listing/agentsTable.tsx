/** A creator's own agents, each with what is known of the last two days. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { markOf } from '../../../sdk/wire/agentMark.ts';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { Health } from '../../parts/badges.tsx';
import { useChainClock } from '../../parts/chainClock.ts';
import { AtRight, Cell, Table } from '../../parts/table.tsx';
import { Badge, cx, QUIET_LINK } from '../../parts/ui.tsx';
import { formatAmount, formatCount, Status, Time } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { healthWords, heldCollateral, isAtMinimum, missingCollateral } from './own.ts';
import type { ListingSearch } from './search.ts';

interface ListProps {
  listings: readonly OwnListing[];
  agents: ReadonlyMap<string, AgentSummary>;
  label: string;
}

const AMOUNTS = ['Price', 'Collateral', 'Open disputes', 'Calls', 'Failed', 'Earned'] as const;
/** Left out of the cards of a phone. */
const NOTHING: readonly ReactNode[] = ['0', formatAmount(0)];

export function AgentsTable({ listings, agents, label }: ListProps) {
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
