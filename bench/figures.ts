/** Percentiles, goals and Markdown tables, for every part of the bench. */

export interface Percentiles {
  p50: number;
  p99: number;
}

/** The smallest value that at least this share of all values, 0 to 1, does not exceed. Throws RangeError if empty. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (found === undefined) throw new RangeError('there are no values');
  return found;
}

export const median = (values: number[]): number => quantile(values, 0.5);

export const percentiles = (values: number[]): Percentiles => ({ p50: median(values), p99: quantile(values, 0.99) });

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

export const spread = ({ p50, p99 }: Percentiles): string => `${round(p50)} / ${round(p99)}`;

export interface Goal {
  name: string;
  /** For example `<= 50`. */
  goal: string;
  measured: number;
  met: boolean;
}

export const atMost = (name: string, limit: number, measured: number): Goal => {
  return { name, goal: `<= ${limit}`, measured, met: measured <= limit };
};

export const atLeast = (name: string, limit: number, measured: number): Goal => {
  return { name, goal: `>= ${limit}`, measured, met: measured >= limit };
};

export function goalTable(goals: Goal[]): string {
  return toTable(
    ['goal', '', 'measured', ''],
    goals.map(({ name, goal, measured, met }) => [name, goal, round(measured), met ? 'met' : 'not met']),
  );
}

/** The first column is text. The others are right-aligned numbers. */
export function toTable(heads: string[], rows: (string | number)[][]): string {
  const texts = rows.map((row) => row.map(String));
  const widths = heads.map((head, column) => Math.max(head.length, ...texts.map((row) => row[column]!.length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`));
  return [line(heads), `|${rule.join('|')}|`, ...texts.map(line)].join('\n');
}
