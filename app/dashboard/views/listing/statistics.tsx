/** An agent's daily figures: earnings, outcomes, durations, and reasons of failures. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { CallsChart, LatencyChart } from '../../parts/agentCharts.tsx';
import { successOf } from '../../parts/badges.tsx';
import { CHARTED_DAYS, Chart, DaySentences } from '../../parts/chart.tsx';
import { nameOfDay } from '../../parts/days.ts';
import { lastDays } from '../../parts/range.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Table } from '../../parts/table.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, cx, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatCounted, formatDuration, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { sumUsdc } from './own.ts';

const RANGES = [7, 30, 90] as const;
type Statistics = ProcedureOutput<'listings.statistics'>;

/** An agent that was listed (`listedAt`) within the shortest range has the same days in all. */
export function Statistics({ agentId, listedAt }: { agentId: string; listedAt: string }) {
  const [days, setDays] = useState<(typeof RANGES)[number]>(30);
  const hasRanges = listedAt < lastDays(RANGES[0]).from;
  const { data, error, refetch } = useQuery({
    queryKey: ['listings', 'statistics', agentId, days],
    queryFn: () => call('listings.statistics', { agent_id: agentId, days }),
    placeholderData: (before) => before,
    refetchInterval: 30_000,
  });
  return (
    <section className="grid gap-4" aria-label="Statistics">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold">Day by day{!hasRanges && ', since it was listed'}</h2>
        {hasRanges && (
          <Segments
            label="Range"
            choices={RANGES.map((range) => [range, `${range} days`] as const)}
            chosen={days}
            onChoose={(range) => setDays(range)}
          />
        )}
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
  const busy = days.filter(({ completed, failed }) => completed + failed > 0);
  const latest = days.findLast(({ p50_ms }) => p50_ms !== null);
  const failed = busy.reduce((sum, day) => sum + day.failed, 0);
  if (busy.length === 0) return <p className="text-sm text-faint">No calls in these {days.length} days.</p>;
  if (busy.length < CHARTED_DAYS) {
    return (
      <div className="grid gap-4">
        <DaySentences texts={busy.map(sentenceOf)} />
        {failed > 0 && <Failures failures={failures} count={failed} />}
      </div>
    );
  }
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Chart
        title="Earned"
        summary={formatAmount(sumUsdc(days.map(({ earned_usdc }) => earned_usdc)))}
        days={names}
        format={formatAmount}
        unit="USDC"
        series={[{ label: 'Earned', tone: 'accent', values: days.map(({ earned_usdc }) => earned_usdc) }]}
      />
      <CallsChart days={days} />
      <div className={cx('min-w-0', failed === 0 && 'lg:col-span-2')}>
        <LatencyChart
          days={days}
          summary={
            latest
              ? `Median about ${formatDuration(latest.p50_ms ?? 0)} on ${nameOfDay(latest.day)}`
              : 'No delivered calls'
          }
        />
      </div>
      {failed > 0 && <Failures failures={failures} count={failed} />}
    </div>
  );
}

/** Such as `3 calls on 29 Nov: 3 of 3 delivered, 0.7425 USDC earned.` */
function sentenceOf({ day, completed, failed, earned_usdc }: Statistics['days'][number]): string {
  const count = completed + failed;
  const facts = [
    `${successOf({ success_rate: completed / count, total_executions: count })} delivered`,
    `${formatAmount(earned_usdc)} earned`,
  ];
  return `${formatCounted(count, 'call')} on ${nameOfDay(day)}: ${facts.join(', ')}.`;
}

/** `count`: of the failed calls. The service may not know the reason of each. */
function Failures({ failures, count: total }: Pick<Statistics, 'failures'> & { count: number }) {
  const unknown = total - failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <Card className="grid min-w-0 content-start gap-4">
      <div>
        <h3 className="text-sm text-faint">Why calls failed</h3>
        <p className="text-xl font-semibold tabular-nums">{formatCount(total)}</p>
      </div>
      <div className="min-w-0">
        <Table label="Failures by reason" head={['Reason', 'Calls', 'Last']}>
          {failures.map(({ code, message, count, last_at }) => (
            <tr key={`${code} ${message}`}>
              <td className="min-w-44">
                <code className="font-mono text-[0.8125rem]">{code}</code>
                <span className="block text-faint">{message}</span>
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
    </Card>
  );
}
