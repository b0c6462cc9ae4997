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
  const { oldest_unsettled: oldest, latest, listings } = state;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure
        label="The relay’s SOL lasts"
        value={runwayOf(state)}
        about={state.runway_hours === null ? 'Nothing is being spent' : 'At the present rate'}
      />
      <Figure
        label="Calls in progress"
        value={formatCount(state.executions_in_flight)}
        about={oldest && `The oldest for ${formatSpan(oldest.age_seconds)}`}
      />
      <Figure
        label="Fees in the last 7 days"
        value={formatAmount(latest.fees_usdc)}
        about={`From ${formatAmount(latest.paid_usdc)} in ${formatCounted(latest.paid, 'paid call')}`}
      />
      <Figure
        label="Listed agents"
        value={formatCount(listings.active + listings.paused)}
        about={
          <>
            {listings.for_tests > 0 && `${formatCount(listings.for_tests)} of them for tests; `}
            {formatCount(listings.paused)} paused
            <Agents ids={listings.paused_agents} total={listings.paused} />
          </>
        }
      />
    </div>
  );
}

export const UNKNOWN = 'Not known yet';

/** `isQuiet`: nothing to see, so the row is folded. */
export interface Row {
  label: string;
  value: ReactNode;
  isQuiet?: boolean;
}

/** Rows that say something, and the others folded below them. */
export function Figured({ id, title, rows }: { id?: string; title: ReactNode; rows: (Row | false)[] }) {
  const shown = rows.filter((row) => row !== false);
  const quiet = shown.filter(({ isQuiet }) => isQuiet);
  const facts = (some: Row[]) => <Facts rows={some.map(({ label, value }) => [label, value] as const)} />;
  return (
    <Card id={id} className="grid content-start gap-4">
      <h2 className="font-semibold">{title}</h2>
      {facts(shown.filter(({ isQuiet }) => !isQuiet))}
      {quiet.length > 0 && (
        <details>
          <summary className="text-sm">More figures</summary>
          <div className="mt-3">{facts(quiet)}</div>
        </details>
      )}
    </Card>
  );
}

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
      <table aria-label="Ended calls" className="w-full text-sm tabular-nums">
        <thead className="border-b border-line align-bottom text-xs text-faint">
          <tr>
            <td />
            {['Last 7 days', '7 days before'].map((head) => (
              <th key={head} scope="col" className="py-1.5 pl-3 text-right font-medium">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map(([label, value]) => (
            <tr key={label}>
              <th scope="row" className="py-1.5 text-left font-normal text-faint">
                {label}
              </th>
              {spans.map((span, index) => (
                <td key={index} className="py-1.5 pl-3 text-right">
                  {value(span)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="text-sm text-faint">
        The last 7 days begin on {dayOf(latest)} (UTC) and include today.
        {hasX402 && ' The service fees of calls by x402 are not in the fees; the treasury gets them too.'}
        {latest.for_tests > 0 && ` ${formatCount(latest.for_tests)} of these calls went to agents for tests.`}
      </p>
    </Card>
  );
}

/** A day in UTC, such as `28 Nov`. */
const dayOf = ({ since }: Latest): string =>
  new Date(since).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Calls that count against their agents, without those for tests; nothing if there are none. */
export function FailedLately({ latest }: { latest: Latest }) {
  const { failed, failing, failing_agents, for_tests } = latest;
  if (failed === 0) return null;
  return (
    <p className="flex items-baseline gap-2 text-sm">
      <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-warn" />
      <span>
        {formatCount(failed)} of {formatCount(endedOf(latest) - for_tests)} calls in the last 7 days failed
        <Agents ids={failing_agents} total={failing} isLinked />
      </span>
    </p>
  );
}

/** Such as `: csv-analyst, web-fetch, echo and 9 more`. `isLinked`: the creators show the failures of all. */
function Agents({ ids, total, isLinked = false }: { ids: string[]; total: number; isLinked?: boolean }) {
  const more = total > ids.length && `${formatCount(total - ids.length)} more`;
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index === 0 ? ': ' : ', '}
          <AgentLink id={id} />
        </span>
      ))}
      {more && ' and '}
      {isLinked && more ? (
        <TextLink to="/admin" search={{ tab: 'creators' }}>
          {more}
        </TextLink>
      ) : (
        more
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
