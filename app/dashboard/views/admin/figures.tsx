/** The admin's figures: how long the SOL lasts, calls of the latest days, and agents. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { formatterOf } from '../../parts/amount.ts';
import { TextLink } from '../../parts/links.tsx';
import { Card, Facts, Figure } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatCounted, formatSpan, shorten } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';

const HOUR_SECONDS = 3_600;
/** Above this, only "over a year" is shown. */
const LONG_HOURS = 24 * 365;

function runwayOf({ runway_hours }: OperationState): string {
  if (runway_hours === null) return '–';
  return runway_hours > LONG_HOURS ? 'Over a year' : formatSpan(runway_hours * HOUR_SECONDS);
}

export function Figures({ state }: { state: OperationState }) {
  const { latest, listings } = state;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure
        label="The relay’s SOL lasts"
        value={runwayOf(state)}
        about={state.runway_hours === null ? 'Nothing is being spent' : 'At the present rate'}
      />
      <Figure label="Calls in progress" value={formatCount(state.executions_in_flight)} />
      <Figure
        label="Fees in the last 7 days"
        value={formatAmount(latest.fees_usdc)}
        about={`From ${formatAmount(latest.paid_usdc)} in ${formatCounted(latest.paid, 'paid call')}`}
      />
      <Figure
        label="Listed agents"
        value={formatCount(listings.active + listings.paused)}
        about={`${listings.for_tests > 0 ? `${formatCount(listings.for_tests)} for tests, ` : ''}${formatCount(listings.paused)} paused`}
      />
    </div>
  );
}

/** False where there is nothing to see. */
export type Row = readonly [label: string, value: ReactNode] | false;

export const Figured = ({ id, title, rows }: { id?: string; title: string; rows: Row[] }) => (
  <Card id={id} className="grid content-start gap-4">
    <h2 className="font-semibold">{title}</h2>
    <Facts rows={rows} />
  </Card>
);

interface FigureTableProps {
  label: string;
  /** Of the columns after the first. */
  heads: readonly string[];
  rows: readonly (readonly [label: ReactNode, ...figures: ReactNode[]])[];
}

export const FigureTable = ({ label, heads, rows }: FigureTableProps) => (
  <table aria-label={label} className="w-full text-sm tabular-nums">
    <thead className="border-b border-line align-bottom text-xs text-faint">
      <tr>
        <td />
        {heads.map((head) => (
          <th key={head} scope="col" className="py-1.5 pl-3 text-right font-medium">
            {head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody className="divide-y divide-line align-top">
      {rows.map(([name, ...figures], index) => (
        <tr key={index}>
          <th scope="row" className="py-1.5 text-left font-normal text-faint">
            {name}
          </th>
          {figures.map((figure, at) => (
            <td key={at} className="py-1.5 pl-3 text-right whitespace-nowrap">
              {figure}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

type Latest = OperationState['latest'];

const endedOf = ({ paid, refunded }: Latest): number => paid + refunded;

/** The latest days beside as many before. */
export function LatestCalls({ latest, hasX402 }: { latest: Latest; hasX402: boolean }) {
  const spans = [latest, latest.before];
  const amount = formatterOf(spans.flatMap(({ paid_usdc, fees_usdc }) => [paid_usdc, fees_usdc]));
  const rows: [label: string, value: (span: Latest['before']) => string][] = [
    ['Paid', ({ paid }) => formatCount(paid)],
    ['Refunded', ({ refunded }) => formatCount(refunded)],
    ['Prices paid, USDC', ({ paid_usdc }) => amount(paid_usdc)],
    ['Fees of these, USDC', ({ fees_usdc }) => amount(fees_usdc)],
  ];
  return (
    <Card className="grid content-start gap-3">
      <h2 className="font-semibold">Ended calls</h2>
      <FigureTable
        label="Ended calls"
        heads={['Last 7 days', '7 days before']}
        rows={rows.map(([label, value]) => [label, ...spans.map(value)])}
      />
      <p className="text-sm text-faint">
        Days are of UTC.
        {hasX402 && ' The service fees of calls by x402 are not in the fees; the treasury gets them too.'}
        {latest.for_tests > 0 && ` ${formatCount(latest.for_tests)} of these calls went to agents for tests.`}
      </p>
    </Card>
  );
}

/** Calls that count against their agents, without those for tests; nothing if there are none. */
export function FailedLately({ latest }: { latest: Latest }) {
  const { failed, failing, failing_agents, for_tests } = latest;
  if (failed === 0) return null;
  return (
    <p className="flex items-baseline gap-2 text-sm">
      <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-warn" />
      <span>
        {formatCount(failed)} of {formatCount(endedOf(latest) - for_tests)} calls in the last 7 days failed
        <Agents ids={failing_agents} total={failing} />
      </span>
    </p>
  );
}

/** Such as `: csv-analyst, web-fetch, echo and 9 more`; the creators show the failures of all. */
function Agents({ ids, total }: { ids: string[]; total: number }) {
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index === 0 ? ': ' : ', '}
          <AgentLink id={id} />
        </span>
      ))}
      {total > ids.length && (
        <>
          {' and '}
          <TextLink to="/admin" search={{ tab: 'creators' }}>
            {formatCount(total - ids.length)} more
          </TextLink>
        </>
      )}
    </>
  );
}

function AgentLink({ id }: { id: string }) {
  const { data: agent } = useQuery(agentQuery(id));
  return (
    <TextLink to="/agents/$agentId" params={{ agentId: id }}>
      {agent?.name ?? shorten(id)}
    </TextLink>
  );
}
