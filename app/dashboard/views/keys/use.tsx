/** A key's use on the last days: its calls and what they cost, by day. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import type { SpendStatement } from '../../../sdk/wire/wire.ts';
import { CHARTED_DAYS, Chart, DaySentences } from '../../parts/chart.tsx';
import { nameOfDay } from '../../parts/days.ts';
import { lastDays } from '../../parts/range.tsx';
import { formatAmount, formatCount, formatCounted, formatUnits } from '../../parts/values.tsx';
import { daysOf, type Group, groupsOf, spendQuery } from '../spend/groups.ts';

/** Poll interval of the use of the last days. */
const REFRESH_MS = 30_000;

/** What the wallet's keys paid on the last days. It is read again at once when a key has spent more. */
export function useSpend(wallet: string, keys: readonly KeySummary[] | undefined): SpendStatement | undefined {
  const [range] = useState(() => lastDays());
  const spent = keys?.reduce((sum, { total_spent_usdc }) => sum + total_spent_usdc, 0);
  const { data } = useQuery({
    ...spendQuery(wallet, range, spent),
    enabled: spent !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return data;
}

interface KeyUseProps {
  apiKey: KeySummary;
  /** Undefined until it is read. */
  spend: SpendStatement | undefined;
}

/** Renders nothing until it is known, or if the key made no calls on these days. */
export function KeyUse({ apiKey, spend }: KeyUseProps) {
  const [isOpen, setOpen] = useState(false);
  if (!spend) return null;
  const group = groupsOf(spend, 'key').find(({ id }) => id === apiKey.key_id);
  if (!group) return null;
  const days = daysOf(spend);
  const busy = days.filter((day) => group.executionsByDay.get(day));
  const { refundedExecutions: refunded } = group;
  const allPaid = formatUnits(group.paid);
  const title = <span className="font-medium">Use in the last {days.length} days</span>;
  if (busy.length < CHARTED_DAYS) {
    return (
      <div className="grid gap-1 border-t border-line pt-4 text-sm">
        <p>{title}</p>
        <DaySentences texts={busy.map((day) => sentenceOf(day, group))} />
      </div>
    );
  }
  return (
    <details className="border-t border-line pt-4" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-sm">
        {title}{' '}
        <span className="text-faint tabular-nums">
          {formatCounted(group.executions, 'call')}
          {refunded > 0 && `, ${formatCount(refunded)} refunded`}, {allPaid}
        </span>
      </summary>
      {isOpen && (
        <div className="mt-4">
          <Chart
            title={`Spent with the key “${apiKey.name}”`}
            summary={allPaid}
            days={days}
            format={formatAmount}
            unit="USDC"
            series={[
              { label: 'Spent', tone: 'accent', values: days.map((day) => toUsdc(group.paidByDay.get(day) ?? 0n)) },
            ]}
          />
        </div>
      )}
    </details>
  );
}

/** Such as `8 calls on 29 Nov: 1 refunded, 1.06 USDC spent.` */
function sentenceOf(day: string, { executionsByDay, refundedByDay, paidByDay }: Group): string {
  const calls = executionsByDay.get(day) ?? 0;
  const refunded = refundedByDay.get(day) ?? 0;
  const facts = [
    ...(refunded > 0 ? [`${formatCount(refunded)} refunded`] : []),
    `${formatUnits(paidByDay.get(day) ?? 0n)} spent`,
  ];
  return `${formatCounted(calls, 'call')} on ${nameOfDay(day)}: ${facts.join(', ')}.`;
}
