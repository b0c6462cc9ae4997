/** Figures by day, the input of charts and tables. */

export const DAY_SECONDS = 86_400;

export interface ChartSeries {
  label: string;
  tone: 'accent' | 'sky' | 'good' | 'bad' | 'strong';
  /** One per day; null for a day without a figure. */
  values: readonly (number | null)[];
}

export interface DailyFigures {
  /** ISO dates in UTC, oldest first. */
  days: readonly string[];
  series: readonly ChartSeries[];
  /** Bars are stacked; lines are not. */
  kind: 'bars' | 'lines';
  /** Short format for the axis. */
  formatShort(value: number): string;
}

/** Created with the first chart, because its creation blocks a slow phone. */
let dayFormat: Intl.DateTimeFormat | undefined;

/** A day as people write it, such as `3 Mar`. */
export function nameOfDay(day: string): string {
  dayFormat ??= new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return dayFormat.format(new Date(`${day}T00:00:00Z`));
}
