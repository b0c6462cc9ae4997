/** What was paid per day: as a chart, or a sentence for each day if there are few. */
import type { SpendStatement } from '../../../sdk/wire/wire.ts';
import { CHARTED_DAYS, Chart, DaySentences } from '../../parts/chart.tsx';
import { nameOfDay } from '../../parts/days.ts';
import { formatAmount, formatNumber, formatUnits } from '../../parts/values.tsx';
import { daysOf, type Group, seriesOf, total } from './groups.ts';

interface PaidByDayProps {
  title: string;
  spend: SpendStatement;
  groups: readonly Group[];
}

export function PaidByDay({ title, spend, groups }: PaidByDayProps) {
  const days = daysOf(spend);
  const series = seriesOf(groups, days);
  // Such as `1.06 USDC on 29 Nov: csv-analyst 0.75, text-report 0.31.`
  const texts = days.flatMap((day, index) => {
    const paid = series
      .map(({ label, values }) => ({ label, usdc: values[index] ?? 0 }))
      .filter(({ usdc }) => usdc > 0);
    if (paid.length === 0) return [];
    const parts = paid.map(({ label, usdc }) => `${label} ${formatNumber(usdc)}`);
    const sum = groups.reduce((before, { paidByDay }) => before + (paidByDay.get(day) ?? 0n), 0n);
    return [`${formatUnits(sum)} on ${nameOfDay(day)}: ${parts.join(', ')}.`];
  });
  if (texts.length < CHARTED_DAYS) return <DaySentences texts={texts} />;
  return (
    <Chart
      level={2}
      title={title}
      summary={formatAmount(total(groups, 'paid'))}
      days={days}
      format={formatAmount}
      unit="USDC"
      series={series}
    />
  );
}
