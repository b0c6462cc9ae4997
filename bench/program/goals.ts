/** What the program was meant to cost, beside what it does, and what it did while signatures were a precompile's. */
import type { InstructionCost, ProgramFigures } from './figures.ts';
import { ARCHIVE_TWELVE, SETTLE } from './steps.ts';

export interface Goal {
  name: string;
  /** What the figure should not be above. */
  at_most: number;
  measured: number;
  /** The figure of commit d482887; null for what there was not. */
  earlier: number | null;
  met: boolean;
}

/** Each figure that an aim was set for, as it is now. */
export function goals({ versus, so_bytes, accounts, execution, instructions }: ProgramFigures): Goal[] {
  const { open, settle, refund } = versus.ours;
  const record = accounts.find(({ name }) => name === 'ExecutionRecord')!;
  const find = (name: string): InstructionCost => instructions.find((cost) => cost.name === name)!;
  const archive = find(ARCHIVE_TWELVE);
  const figures: [string, number, number, number | null][] = [
    ['open + settle, CU LiteSVM, medians', 60_000, open.units.litesvm + settle.units.litesvm, 40_466],
    ['open + settle, CU bankrun, medians', 80_000, open.units.bankrun + settle.units.bankrun, 61_636],
    ['open_execution_with_grant, CU bankrun, no bump missed', 38_000, versus.opens.bankrun.base, 33_356],
    ['refund_execution, CU bankrun, median', 25_000, refund.units.bankrun, 22_275],
    ['settle_execution, bytes', 545, find(SETTLE).bytes, 698],
    ['network fees of one execution (2 transactions), lamports', 10_000, execution.fee_lamports, 15_000],
    ['archive_executions, CU a record, 12 at once', 10_000, Math.ceil(archive.units.litesvm / 12), null],
    ['archive_executions, lamports a record, 12 at once', 700, Math.ceil(archive.fee_lamports / 12), null],
    ['program, bytes', 650_000, so_bytes, 393_256],
    ['ExecutionRecord, bytes', 300, record.bytes, 290],
  ];
  return figures.map(([name, at_most, measured, earlier]) => ({
    ...{ name, at_most, measured, earlier },
    met: measured <= at_most,
  }));
}
