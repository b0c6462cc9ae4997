/** An agent's daily figures: earnings, outcomes, durations, and reasons of failures. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { CallsChart, LatencyChart } from '../../parts/agentCharts.tsx';
import { Chart } from '../../parts/chart.tsx';
import { nameOfDay } from '../../parts/days.ts';
import { Table } from '../../parts/table.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, cx, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatDuration, formatShort, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { reasonOf } from '../executions/outcome.ts';
import { sumUsdc } from './own.ts';

const RANGES = [7, 30, 90] as const;
type Statistics = ProcedureOutput<'listings.statistics'>;

export function Statistics({ agentId }: { agentId: string }) {
  const [days, setDays] = useState<number>(30);
  const { data, error, refetch } = useQuery({
    queryKey: ['listings', 'statistics', agentId, days],
    queryFn: () => call('listings.statistics', { agent_id: agentId, days }),
    placeholderData: (before) => before,
    refetchInterval: 30_000,
  });
  return (
    <section className="grid gap-4" aria-label="Statistics">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="font-medium">Day by day</h2>
        <fieldset className="flex rounded-lg border border-line bg-raised p-0.5" aria-label="Range">
          {RANGES.map((range) => (
            <button
              key={range}
              type="button"
              aria-pressed={days === range}
              onClick={() => setDays(range)}
              className={cx(
                'min-h-8 rounded-md px-3 text-sm tabular-nums',
                days === range ? 'bg-accent-soft font-medium text-accent' : 'text-faint hover:text-ink',
              )}
            >
              {range} days
            </button>
          ))}
        </fieldset>
      </div>
      {error ? (
        <Trouble error={error} what="The statistics" onRetry={refetch} />
      ) : data ? (
        <Charts data={data} />
      ) : (
        <div className="grid gap-4 lg:grid-cols-2">
          {['earned', 'calls', 'latency', 'failures'].map((name) => (
            <Skeleton key={name} className="h-80" />
          ))}
        </div>
      )}
    </section>
  );
}

function Charts({ data: { days, failures } }: { data: Statistics }) {
  const names = days.map(({ day }) => day);
  const latest = days.findLast(({ p50_ms }) => p50_ms !== null);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Chart
        title="Earned"
        summary={formatAmount(sumUsdc(days.map(({ earned_usdc }) => earned_usdc)))}
        days={names}
        kind="bars"
        format={formatAmount}
        formatShort={formatShort}
        unit="USDC"
        series={[{ label: 'Earned', tone: 'accent', values: days.map(({ earned_usdc }) => earned_usdc) }]}
      />
      <CallsChart days={days} />
      <LatencyChart
        days={days}
        summary={
          latest ? `Median ${formatDuration(latest.p50_ms ?? 0)} on ${nameOfDay(latest.day)}` : 'No completed calls'
        }
      />
      <Failures failures={failures} count={days.reduce((sum, { failed }) => sum + failed, 0)} />
    </div>
  );
}

/** `count` is that of the chart of calls. The service may not know the reason of each. */
function Failures({ failures, count: total }: Pick<Statistics, 'failures'> & { count: number }) {
  const unknown = total - failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <Card className="grid min-w-0 content-start gap-4">
      <div>
        <h3 className="text-sm text-faint">Why calls failed</h3>
        <p className="text-xl font-semibold tabular-nums">{total === 0 ? 'No failures' : formatCount(total)}</p>
      </div>
      {total > 0 && (
        <div className="min-w-0">
          <Table label="Failures by reason" head={['Reason', 'Calls', 'Last']}>
            {failures.map(({ code, message, count, last_at }) => (
              <tr key={`${code} ${message}`}>
                <td className="min-w-44">
                  <code className="font-mono text-[0.8125rem]">{code}</code>
                  <span className="block text-faint">{reasonOf({ error: { message } })}</span>
                </td>
                <td className="tabular-nums">{formatCount(count)}</td>
                <td className="whitespace-nowrap text-faint">
                  <Time at={last_at} />
                </td>
              </tr>
            ))}
            {unknown > 0 && (
              <tr>
                <td className="text-faint">Reason unknown to this marketplace</td>
                <td className="tabular-nums">{formatCount(unknown)}</td>
                <td />
              </tr>
            )}
          </Table>
        </div>
      )}
    </Card>
  );
}
