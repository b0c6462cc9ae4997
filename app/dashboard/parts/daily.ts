/** What a chart by day is made of, for what draws it and what frames it. */
import type { ReactNode } from 'react';

export interface ChartSeries {
  label: string;
  tone: 'accent' | 'good' | 'bad' | 'warn' | 'strong';
  /** One for each day; null where there is none. */
  values: readonly (number | null)[];
}

export interface ChartProps {
  title: string;
  /** The sum of it all, in words. */
  summary: ReactNode;
  /** ISO dates in UTC, the oldest first. */
  days: readonly string[];
  series: readonly ChartSeries[];
  /** Bars stand on each other; lines do not. */
  kind: 'bars' | 'lines';
  format(value: number): string;
  /** For the axis. */
  formatShort(value: number): string;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** A day as people say it. */
export const nameOf = (day: string): string => DAY.format(new Date(`${day}T00:00:00Z`));
