/** Prints progress on stderr and the result on stdout, so that a script can read the result alone. */

/** Prints a progress message. */
export const report = (line: string): void => console.error(line);

/** Prints the result: one JSON document with `--json`, else one `name: value` line per field. */
export function printResult(result: object, json: boolean | undefined): void {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  for (const [name, value] of Object.entries(result)) console.log(`${name}: ${shown(value)}`);
}

/** Prints rows as a table with aligned columns, or as JSON. */
export function printTable<Row extends object>(rows: Row[], columns: (keyof Row & string)[], json?: boolean): void {
  if (json) {
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  const lines = [columns as string[], ...rows.map((row) => columns.map((column) => shown(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  for (const line of lines)
    console.log(
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function shown(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '-');
}
