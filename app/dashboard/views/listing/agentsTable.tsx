/** A creator's own agents, each with what is known of the last two days. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { formatterOf } from '../../parts/amount.ts';
import { Avatar } from '../../parts/avatar.tsx';
import { Health, successesOf } from '../../parts/badges.tsx';
import { useChainClock } from '../../parts/chainClock.ts';
import { AtRight, Cell, Table } from '../../parts/table.tsx';
import { Badge, cx, QUIET_LINK } from '../../parts/ui.tsx';
import { formatCount, formatNumber, Status, Time } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { heldCollateral, isAtMinimum, missingCollateral } from './own.ts';
import type { ListingSearch } from './search.ts';

interface ListProps {
  listings: readonly OwnListing[];
  agents: ReadonlyMap<string, AgentSummary>;
  label: string;
}

/** The head of each column after the first two, in one or two lines. */
const AMOUNTS = {
  price: ['Price, USDC'],
  collateral: ['Collateral, USDC'],
  disputes: ['Open disputes'],
  calls: ['Calls', 'since yesterday'],
  failed: ['Failed', 'since yesterday'],
  earned: ['Earned, USDC', 'since yesterday'],
} as const;
type Column = keyof typeof AMOUNTS;
const COLUMNS = Object.keys(AMOUNTS) as Column[];

/** Amounts of USDC, all of a column with as many decimals. */
type Formats = Record<'price' | 'collateral' | 'earned', (usdc: number) => string>;

export function AgentsTable({ listings, agents, label }: ListProps) {
  const { data: config } = useQuery(configQuery);
  const isLow = (listing: OwnListing) => listing.status !== 'delisted' && isAtMinimum(listing, config);
  const formats: Formats = {
    price: formatterOf(listings.map(({ price_usdc }) => price_usdc)),
    collateral: formatterOf(listings.map(heldCollateral)),
    earned: formatterOf(listings.map(({ latest }) => latest.earned_usdc)),
  };
  return (
    <div className="grid gap-2">
      <p className="max-w-2xl text-sm text-faint">
        Open an agent to pause, change or delist it. “Failed”: refunded through the agent’s fault, or with an upheld
        dispute.
        {listings.some(isLow) &&
          ' At the minimum of collateral, any award of a dispute pauses the agent: follow “at the minimum” to top up.'}
      </p>
      <Table
        label={label}
        hasCards
        head={[
          'Agent',
          'Status',
          ...COLUMNS.map((column) => (
            <AtRight key={column}>
              {AMOUNTS[column].map((line) => (
                <span key={line} className="block">
                  {line}
                </span>
              ))}
            </AtRight>
          )),
        ]}
      >
        {listings.map((listing) => (
          <Row
            key={listing.agent_id}
            listing={listing}
            agent={agents.get(listing.agent_id)}
            formats={formats}
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
  formats: Formats;
  /** Any award pauses it while it is active. */
  isLow: boolean;
  /** The collateral that its price needs beyond what it holds, USDC. */
  missing: number | undefined;
}

/** The whole row is a link to its agent; above it are those to its calls and disputes. */
function Row({ listing, agent, formats, isLow, missing }: RowProps) {
  const { agent_id, name, status, price_usdc, latest, open_disputes, total_executions, earned_usdc } = listing;
  const failed = total_executions - successesOf(listing);
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
  const values: Record<Column, readonly [value: number, shown: ReactNode]> = {
    price: [price_usdc, formats.price(price_usdc)],
    collateral: [heldCollateral(listing), formats.collateral(heldCollateral(listing))],
    disputes: [open_disputes, warned({ tab: 'disputes' }, open_disputes)],
    calls: [latest.executions, inner({ tab: 'received' }, latest.executions)],
    failed: [latest.failed, warned({ tab: 'received', failed: true }, latest.failed)],
    earned: [latest.earned_usdc, formats.earned(latest.earned_usdc)],
  };
  /** In a second line. */
  const asides: Partial<Record<Column, ReactNode>> = {
    collateral: isLow && (
      <Link
        {...to}
        search={{ tab: 'settings' }}
        aria-label="Collateral at the minimum: top up"
        className={cx('relative z-1 -my-1 inline-block py-1', QUIET_LINK)}
      >
        at the minimum
      </Link>
    ),
    calls: total_executions > 0 && `${formatCount(total_executions)} in all`,
    failed: failed > 0 && `${formatCount(failed)} in all`,
    earned: earned_usdc > 0 && `${formatNumber(earned_usdc)} in all`,
  };
  return (
    <tr className="relative hover:bg-sunken max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:gap-y-1!">
      <td className="min-w-40 max-sm:min-w-0">
        <span className="flex items-center gap-3">
          <Avatar address={agent_id} picture={agent?.picture_path} className="size-8" />
          <Link {...to} className={cx('font-medium after:absolute after:inset-0 max-sm:text-base', QUIET_LINK)}>
            {name ?? 'Agent without a description'}
          </Link>
        </span>
        {status === 'delisted' && (
          <p className="mt-1 text-sm text-faint">
            <Returns listing={listing} />
          </p>
        )}
      </td>
      <td>
        <span className="inline-flex flex-wrap gap-1.5">
          <State listing={listing} missing={missing} />
          <Health agent={agent} />
        </span>
      </td>
      {COLUMNS.map((column) => {
        const [value, shown] = values[column];
        return (
          <Cell
            key={column}
            of={AMOUNTS[column].join(' ')}
            isFigure
            // A card has no zeros.
            className={cx('max-sm:col-span-2', value === 0 && !asides[column] && 'max-sm:hidden')}
          >
            <span>
              <span className={cx(value === 0 && 'text-faint')}>{shown}</span>
              {asides[column] && <span className="block text-xs text-faint">{asides[column]}</span>}
            </span>
          </Cell>
        );
      })}
    </tr>
  );
}

/** Only an award pauses an agent besides its creator; which did is not always known. */
function State({ listing: { status, collateral }, missing }: Pick<RowProps, 'listing' | 'missing'>) {
  if (status !== 'paused' || missing === undefined) return <Status value={status} />;
  if (missing > 0) return <Status value={status}>Paused: collateral too low</Status>;
  return collateral.slashed_usdc === 0 ? <Badge>Paused by you</Badge> : <Status value={status} />;
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
