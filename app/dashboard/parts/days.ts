/** Figures by day, as charts and tables take them. */

export interface ChartSeries {
  label: string;
  tone: 'accent' | 'good' | 'bad' | 'warn' | 'strong';
  /** One for each day; null where there is none. */
  values: readonly (number | null)[];
}

export interface DailyFigures {
  /** ISO dates in UTC, the oldest first. */
  days: readonly string[];
  series: readonly ChartSeries[];
  /** Bars stand on each other; lines do not. */
  kind: 'bars' | 'lines';
  /** For the axis. */
  formatShort(value: number): string;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A day as people say it. */
export const nameOfDay = (day: string): string => DAY.format(new Date(`${day}T00:00:00Z`));
