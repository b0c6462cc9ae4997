/** Daily statements: what a wallet paid as caller, or earned as creator, by the UTC day on which executions ended. */
import * as z from 'zod';
import { STATEMENT_ROLES, type StatementRole } from './choices.ts';
import { ADDRESS } from './fields.ts';

/** Most days of one statement. */
export const STATEMENT_DAYS = 92;
export type { StatementRole };

const Count = z.int().min(0);
const Usdc = z.number().min(0);

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

/** The days as CSV, with a header. No value needs quotes. */
export function statementCsv({ days }: DailyStatement): string {
  const names = Object.keys(StatementDay.shape) as (keyof StatementDay)[];
  const lines = [names, ...days.map((day) => names.map((name) => day[name]))];
  return lines.map((line) => `${line.join(',')}\n`).join('');
}
