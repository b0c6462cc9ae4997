/** Daily statements: amounts that a wallet paid as caller or earned as creator, by UTC day of an execution's end. */
import * as z from 'zod';
import { STATEMENT_DAYS, STATEMENT_ROLES, type StatementRole } from './choices.ts';
import { ADDRESS, Count, Usdc } from './fields.ts';

export { STATEMENT_DAYS, type StatementRole };

const figures = {
  executions: Count,
  completed: Count,
  refunded: Count,
  disputed: Count,
  paid_usdc: Usdc,
  earned_usdc: Usdc,
  fee_usdc: Usdc,
  refunded_usdc: Usdc,
  returned_usdc: Usdc,
  slashed_usdc: Usdc,
  service_fee_usdc: Usdc,
};

export const StatementTotal = z.strictObject(figures);
export type StatementTotal = z.infer<typeof StatementTotal>;

export const StatementDay = z.strictObject({ day: z.iso.date(), ...figures });
export type StatementDay = z.infer<typeof StatementDay>;

/** GET /v1/statements/daily */
export const DailyStatement = z.strictObject({
  wallet: z.string().regex(ADDRESS),
  role: z.enum(STATEMENT_ROLES),
  from: z.iso.date(),
  to: z.iso.date(),
  days: z.array(StatementDay),
  total: StatementTotal,
});
export type DailyStatement = z.infer<typeof DailyStatement>;

/** One UTC day, one key and one agent. */
export const SpendRow = z.strictObject({
  day: z.iso.date(),
  /** Null if the wallet itself opened the executions. */
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  agent_id: z.string().regex(ADDRESS),
  agent_name: z.string().nullable(),
  executions: Count,
  completed: Count,
  refunded: Count,
  paid_usdc: Usdc,
  refunded_usdc: Usdc,
  returned_usdc: Usdc,
  service_fee_usdc: Usdc,
});
export type SpendRow = z.infer<typeof SpendRow>;

/** GET /v1/statements/spend */
export const SpendStatement = z.strictObject({
  wallet: z.string().regex(ADDRESS),
  from: z.iso.date(),
  to: z.iso.date(),
  rows: z.array(SpendRow),
});
export type SpendStatement = z.infer<typeof SpendStatement>;

/** The days as CSV, with a header. */
export const statementCsv = ({ days }: DailyStatement): string => toCsv(StatementDay.shape, days);
/** The rows as CSV, with a header. */
export const spendCsv = ({ rows }: SpendStatement): string => toCsv(SpendRow.shape, rows);

type Value = string | number | null;

function toCsv<Row extends Record<string, Value>>(shape: Record<keyof Row, unknown>, rows: readonly Row[]): string {
  const names = Object.keys(shape) as (keyof Row & string)[];
  const lines = [names, ...rows.map((row) => names.map((name) => cellOf(row[name] ?? null)))];
  return lines.map((line) => `${line.join(',')}\n`).join('');
}

/** Names are other people's text. They are quoted where needed, and never start a spreadsheet formula. */
function cellOf(value: Value): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
