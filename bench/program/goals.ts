/** What the program was meant to cost, beside what it does. Units are those of the classic Token program: bankrun's. */
import type { ProgramFigures } from './figures.ts';

export interface Goal {
  name: string;
  /** What the figure should not be above. */
  at_most: number;
  measured: number;
  met: boolean;
}

/** Each figure that an aim was set for, as it is now. */
export function goals({ versus, so_bytes, accounts, execution }: ProgramFigures): Goal[] {
  const { open, settle, refund } = versus.ours;
  const record = accounts.find(({ name }) => name === 'ExecutionRecord')!;
  const figures: [string, number, number][] = [
    ['open_execution_with_grant, CU, median', 35_000, open.units.bankrun],
    ['open_execution_with_grant, CU, no bump missed', 35_000, versus.opens.bankrun.base],
    ['settle_execution, CU, median', 35_000, settle.units.bankrun],
    ['refund_execution, CU, median', 25_000, refund.units.bankrun],
    ['program, bytes', 400 * 1024, so_bytes],
    ['ExecutionRecord, bytes', 300, record.bytes],
    ['network fees of one execution (2 transactions), lamports', 20_000, execution.fee_lamports],
  ];
  return figures.map(([name, at_most, measured]) => ({ name, at_most, measured, met: measured <= at_most }));
}
