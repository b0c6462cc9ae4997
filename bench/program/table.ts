/** Figures as a Markdown table whose columns are in line. */

/** The first column is text, the others are numbers, to the right. */
export function toTable(heads: string[], rows: (string | number)[][]): string {
  const texts = rows.map((row) => row.map(String));
  const widths = heads.map((head, column) => Math.max(head.length, ...texts.map((row) => row[column]!.length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`));
  return [line(heads), `|${rule.join('|')}|`, ...texts.map(line)].join('\n');
}

/** The value that a share of all values, 0 to 1, is not above. Throws RangeError where there are none. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (found === undefined) throw new RangeError('there are no values');
  return found;
}

export const median = (values: number[]): number => quantile(values, 0.5);
