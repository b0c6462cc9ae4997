/** Charts of an agent's calls and of its answer times per day. The service rounds these times to two digits. */
import { Chart } from './chart.tsx';
import { formatCount, formatDuration, formatRate, formatShort } from './values.tsx';

interface Day {
  day: string;
  completed: number;
  failed: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

function shortDuration(ms: number): string {
  if (ms === 0) return '0';
  return ms < 1_000 ? `${formatShort(ms)} ms` : `${formatShort(ms / 1_000)} s`;
}

export function CallsChart({ days }: { days: readonly Day[] }) {
  const completed = days.reduce((sum, day) => sum + day.completed, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  return (
    <Chart
      title="Calls"
      summary={
        completed + failed > 0
          ? `${formatCount(completed + failed)}, ${formatRate(completed / (completed + failed))} delivered`
          : 'None'
      }
      days={days.map(({ day }) => day)}
      format={formatCount}
      unit="calls"
      series={[
        { label: 'Delivered', tone: 'accent', values: days.map((day) => day.completed) },
        { label: 'Failed', tone: 'bad', values: days.map((day) => day.failed) },
      ]}
    />
  );
}

export function LatencyChart({ days, summary }: { days: readonly Day[]; summary: string }) {
  return (
    <Chart
      title="Agent answers in"
      summary={summary}
      days={days.map(({ day }) => day)}
      kind="lines"
      format={formatDuration}
      formatShort={shortDuration}
      series={[
        { label: 'Median', tone: 'accent', values: days.map(({ p50_ms }) => p50_ms) },
        { label: '95 % within', tone: 'sky', values: days.map(({ p95_ms }) => p95_ms) },
      ]}
    />
  );
}
