/** Sums of a wallet's spend by agent or by key. */
import { queryOptions } from '@tanstack/react-query';
import { DAY_MS, toDay } from '../../../sdk/wire/time.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import type { SpendStatement } from '../../../sdk/wire/wire.ts';
import type { ChartSeries } from '../../parts/days.ts';
import type { DayRange } from '../../parts/range.tsx';
import { formatUnits, shorten } from '../../parts/values.tsx';
import { request } from '../../service.ts';

/** What a wallet and its keys paid on these days, by day, agent and key. Another `spent` reads it again. */
export const spendQuery = (wallet: string | null | undefined, range: DayRange, spent?: number) =>
  queryOptions({ queryKey: ['spend', wallet, range, spent], queryFn: () => request('getSpend', { ...range }) });

export const GROUPINGS = ['agent', 'key'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Amounts in base units. */
export interface Group {
  id: string;
  name: string;
  executions: number;
  /** How many of `executions` were refunded. */
  refundedExecutions: number;
  /** Including `fees`, the service fees of x402 calls. */
  paid: bigint;
  fees: bigint;
  refunded: bigint;
  returned: bigint;
  paidByDay: Map<string, bigint>;
  executionsByDay: Map<string, number>;
  /** How many of `executionsByDay` were refunded. */
  refundedByDay: Map<string, number>;
}

type Row = SpendStatement['rows'][number];

const idOf = (row: Row, by: Grouping): string => (by === 'agent' ? row.agent_id : (row.key_id ?? ''));

function nameOf(row: Row, by: Grouping): string {
  if (by === 'agent') return row.agent_name ?? shorten(row.agent_id);
  return row.key_id === null ? 'The wallet itself' : (row.key_name ?? shorten(row.key_id));
}

/** The groups, largest payment first. */
export function groupsOf({ rows }: SpendStatement, by: Grouping): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const id = idOf(row, by);
    const group = groups.get(id) ?? {
      id,
      name: nameOf(row, by),
      executions: 0,
      refundedExecutions: 0,
      paid: 0n,
      fees: 0n,
      refunded: 0n,
      returned: 0n,
      paidByDay: new Map<string, bigint>(),
      executionsByDay: new Map<string, number>(),
      refundedByDay: new Map<string, number>(),
    };
    groups.set(id, group);
    const fees = parseUsdc(row.service_fee_usdc);
    const paid = parseUsdc(row.paid_usdc) + fees;
    group.executions += row.executions;
    group.refundedExecutions += row.refunded;
    group.paid += paid;
    group.fees += fees;
    group.refunded += parseUsdc(row.refunded_usdc);
    group.returned += parseUsdc(row.returned_usdc);
    group.executionsByDay.set(row.day, (group.executionsByDay.get(row.day) ?? 0) + row.executions);
    group.refundedByDay.set(row.day, (group.refundedByDay.get(row.day) ?? 0) + row.refunded);
    group.paidByDay.set(row.day, (group.paidByDay.get(row.day) ?? 0n) + paid);
  }
  return [...groups.values()].sort((one, other) => (one.paid < other.paid ? 1 : one.paid > other.paid ? -1 : 0));
}

export const total = (groups: readonly Group[], name: 'paid' | 'fees' | 'refunded' | 'returned'): number =>
  toUsdc(groups.reduce((sum, group) => sum + group[name], 0n));

/** Paid less the awards. It is below zero if more was awarded than paid on these days. */
export function netOf(groups: readonly Group[]): string {
  const net = groups.reduce((sum, { paid, returned }) => sum + paid - returned, 0n);
  return net < 0n ? `−${formatUnits(-net)}` : formatUnits(net);
}

const TONES = ['accent', 'sky', 'good'] as const;

/** A series for each of the largest groups that paid something, and one for all others. */
export function seriesOf(groups: readonly Group[], days: readonly string[]): ChartSeries[] {
  const paid = (some: readonly Group[]) =>
    days.map((day) => toUsdc(some.reduce((sum, { paidByDay }) => sum + (paidByDay.get(day) ?? 0n), 0n)));
  const paying = groups.filter((group) => group.paid > 0n);
  const largest = paying.slice(0, TONES.length);
  const others = paying.slice(TONES.length);
  return [
    ...largest.map((group, index) => ({ label: group.name, tone: TONES[index]!, values: paid([group]) })),
    ...(others.length > 0 ? [{ label: 'Others', tone: 'strong' as const, values: paid(others) }] : []),
  ];
}

/** Every day of the range. */
export function daysOf({ from, to }: Pick<SpendStatement, 'from' | 'to'>): string[] {
  const first = Date.parse(from) / DAY_MS;
  const count = Date.parse(to) / DAY_MS - first + 1;
  return Array.from({ length: count }, (_, index) => toDay(first + index));
}
