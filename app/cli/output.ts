/** What a command prints: progress on stderr, its result on stdout, so that a script can read the result alone. */
import type { Report } from '../sdk/wallet/marketplace.ts';

export const report: Report = (line) => console.error(line);

/** The result: one JSON document with `--json`, else one `name: value` line for each field. */
export function printResult(result: object, json: boolean | undefined): void {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  for (const [name, value] of Object.entries(result)) console.log(`${name}: ${shown(value)}`);
}

/** Unix seconds as ISO 8601 in UTC; null for 0, which on-chain means never. */
export function formatTime(seconds: bigint): string | null {
  return seconds === 0n ? null : new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Bytes as lower-case hex; null for all zero, which on-chain means none. */
export function formatBytes(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : Buffer.from(bytes).toString('hex');
}

/** Rows as a table with aligned columns, or as JSON. */
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
