/** Payments of a wallet and its keys over time, by agent or by key: a chart, a table, and a CSV file. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { SpendStatement } from '../../sdk/wire/wire.ts';
import { formatterOf } from '../parts/amount.ts';
import { SignedIn } from '../parts/connect.tsx';
import { CellLink } from '../parts/links.tsx';
import { type DayRange, download, faultOf, lastDays, RangeFields } from '../parts/range.tsx';
import { SaveButton } from '../parts/saveButton.tsx';
import { Segments } from '../parts/segments.tsx';
import { SharedNote } from '../parts/sharedNote.tsx';
import { StatementButton } from '../parts/statement.tsx';
import { AtRight, Cell, Table } from '../parts/table.tsx';
import { Unread } from '../parts/trouble.tsx';
import { cx, Empty, Figure, PageHead, Skeleton } from '../parts/ui.tsx';
import { formatAmount, formatCount } from '../parts/values.tsx';
import { configQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import type { ExecutionsSearch } from './executions/search.ts';
import { GROUPINGS, type Group, type Grouping, groupsOf, netOf, spendQuery, total } from './spend/groups.ts';
import { HeldSol } from './spend/held.tsx';
import { PaidByDay } from './spend/paidByDay.tsx';

const route = getRouteApi('/spend');
const AMOUNTS = ['paid', 'refunded', 'returned'] as const;
const COLUMNS = ['Calls', 'Paid, USDC', 'Refunded, USDC', 'Awarded, USDC'];
const PAID = 1;
/** On a phone a row is a card, with what was paid at the right of its name. */
const ROW = 'max-sm:grid-cols-[minmax(0,1fr)_auto]';
const BESIDE_NAME = 'max-sm:col-start-2 max-sm:row-start-1 max-sm:font-medium max-sm:before:content-none!';
const BY: Record<Grouping, string> = { agent: 'By agent', key: 'By API key' };

export default function View() {
  return (
    <>
      <PageHead title="Spend" about="What this wallet and its keys paid for calls that ended." />
      <SignedIn why="The spend of a wallet is shown to that wallet only.">
        <SharedNote>This is the spend of all users of this shared test wallet.</SharedNote>
        <Spend />
      </SignedIn>
    </>
  );
}

function Spend() {
  const { wallet } = useSession();
  const { by = 'agent' } = route.useSearch();
  const navigate = route.useNavigate();
  const [range, setRange] = useState(lastDays);
  const isValid = faultOf(range) === null;
  const query = useQuery({ ...spendQuery(wallet, range), enabled: isValid });
  const { data } = query;
  const groups = data ? groupsOf(data, by) : [];
  const save = () => {
    const query = new URLSearchParams({ ...range, format: 'csv' });
    return download(`/v1/statements/spend?${query}`, `spend-${range.from}-${range.to}.csv`, 'text/csv');
  };
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-end gap-3">
        <RangeFields range={range} onChange={setRange} />
        <Presets range={range} onChange={setRange} />
      </div>
      {isValid &&
        (data ? (
          <Figures spend={data} groups={groups} />
        ) : (
          <Unread query={query} what="The spend" className="h-75 lg:h-35" />
        ))}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Segments
          label="Grouping"
          choices={GROUPINGS.map((grouping) => [grouping, BY[grouping]] as const)}
          chosen={by}
          onChoose={(grouping) =>
            void navigate({ search: grouping === 'agent' ? {} : { by: 'key' }, replace: true, resetScroll: false })
          }
        />
        <div className="flex flex-wrap items-center gap-2 max-sm:w-full max-sm:*:grow">
          <SaveButton disabled={!isValid} work={save} failed="The file could not be downloaded">
            CSV by day, agent and key
          </SaveButton>
          <StatementButton as="caller" />
        </div>
      </div>
      {isValid && !data && !query.error && <Skeleton className="h-96" />}
      {isValid && data && groups.length > 0 && (
        <>
          <PaidByDay title={`Paid, ${BY[by].toLowerCase().replace('api', 'API')}`} spend={data} groups={groups} />
          <ByGroup by={by} groups={groups} days={{ from: data.from, to: data.to }} />
        </>
      )}
      {wallet && (
        <div className="mt-5">
          <HeldSol wallet={wallet} />
        </div>
      )}
    </div>
  );
}

const PRESETS: readonly (readonly [name: string, range: () => DayRange])[] = [
  ['7 days', () => lastDays(7)],
  ['30 days', () => lastDays(30)],
  ['This month', () => lastDays(new Date().getUTCDate())],
];

function Presets({ range, onChange }: { range: DayRange; onChange(range: DayRange): void }) {
  const ranges = PRESETS.map(([, rangeOf]) => rangeOf());
  return (
    <Segments
      label="Usual days"
      choices={PRESETS.map(([name], index) => [index, name] as const)}
      chosen={ranges.findIndex(({ from, to }) => range.from === from && range.to === to)}
      onChoose={(index) => onChange(ranges[index]!)}
    />
  );
}

/** A number of calls, with a link to them. */
const Calls = ({ search, children }: { search: ExecutionsSearch; children: ReactNode }) => (
  <CellLink to="/executions" search={search}>
    {children}
  </CellLink>
);

const callsOf = (groups: readonly Group[]): string =>
  formatCount(groups.reduce((sum, { executions }) => sum + executions, 0));

/** True for a refund or an award of zero, which a card leaves out. */
const isNone = (groups: readonly Group[], column: number): boolean =>
  column > PAID && total(groups, AMOUNTS[column - 1]!) === 0;

/** The sums of each agent or key, and of all. */
function ByGroup({ by, groups, days }: { by: Grouping; groups: readonly Group[]; days: DayRange }) {
  const isByKey = by === 'key';
  const formats = AMOUNTS.map((name) => formatterOf(groups.map((group) => total([group], name))));
  // No filter leaves the calls of the wallet itself, whose group has no id.
  const cellsOf = (some: readonly Group[], search: ExecutionsSearch) =>
    [
      search.key === '' ? callsOf(some) : <Calls search={search}>{callsOf(some)}</Calls>,
      ...AMOUNTS.map((name, index) => formats[index]!(total(some, name))),
    ].map((cell, index) => (
      <Cell
        key={COLUMNS[index]}
        of={COLUMNS[index]!}
        isFigure
        className={cx(index === PAID ? BESIDE_NAME : 'max-sm:col-span-2', isNone(some, index) && 'max-sm:hidden')}
      >
        <span>
          {cell}
          {index === PAID && <span className="sm:hidden"> USDC</span>}
        </span>
      </Cell>
    ));
  return (
    <Table
      label={BY[by]}
      hasCards
      head={[isByKey ? 'API key' : 'Agent', ...COLUMNS.map((name) => <AtRight key={name}>{name}</AtRight>)]}
    >
      {groups.map((group) => (
        <tr key={group.id} className={ROW}>
          <td className="min-w-36 font-medium" title={group.id}>
            {isByKey ? (
              group.name
            ) : (
              <CellLink to="/agents/$agentId" params={{ agentId: group.id }}>
                {group.name}
              </CellLink>
            )}
          </td>
          {cellsOf([group], { ...days, [by]: group.id })}
        </tr>
      ))}
      {groups.length > 1 && (
        <tr className={cx('font-semibold', ROW)}>
          <td>Total</td>
          {cellsOf(groups, days)}
        </tr>
      )}
    </Table>
  );
}

const feeWords = (fees: number): string =>
  `Paid includes x402 service fees${fees > 0 ? ` of ${formatAmount(fees)}` : ''}, also of refunded calls, but not of payments that came back before a call was opened.`;

function Figures({ spend, groups }: { spend: SpendStatement; groups: readonly Group[] }) {
  const { data: config } = useQuery(configQuery);
  const fees = total(groups, 'fees');
  const range = { from: spend.from, to: spend.to };
  const refunded = spend.rows.reduce((sum, row) => sum + row.refunded, 0);
  if (groups.length === 0) {
    return (
      <Empty title="No call of this wallet ended on these days">
        <p>Choose other days, or run an agent.</p>
      </Empty>
    );
  }
  return (
    <div className="grid gap-3">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure
          label="Paid"
          value={formatAmount(total(groups, 'paid'))}
          about={
            total(groups, 'returned') > 0 && (
              <span className="font-medium text-ink tabular-nums">Net of awards: {netOf(groups)}</span>
            )
          }
        />
        <Figure
          label="Calls"
          value={<Calls search={range}>{callsOf(groups)}</Calls>}
          about={
            refunded > 0 && (
              <Calls search={{ ...range, status: 'failed' }}>{formatCount(refunded)} of them refunded</Calls>
            )
          }
        />
        <Figure label="Refunded" value={formatAmount(total(groups, 'refunded'))} about="Not included in Paid" />
        <Figure
          label="Awarded in disputes"
          value={formatAmount(total(groups, 'returned'))}
          about="Not deducted from Paid"
        />
      </div>
      <ul className="grid max-w-2xl gap-1 text-sm text-faint tabular-nums">
        <li>
          Paid includes disputed calls. An award counts on the day of the decision. Not included: network fees and lost
          bonds, in SOL.
        </li>
        {(fees > 0 || (config && config.x402_service_fee_usdc !== null)) && <li>{feeWords(fees)}</li>}
      </ul>
    </div>
  );
}
