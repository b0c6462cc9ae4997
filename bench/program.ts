/** The cost of the program on the current runtime (LiteSVM): every instruction, its accounts, and a whole paid call. */
import { PROGRAMS, readProgram } from '../tests/harness/vm/deployment.ts';
import { atMost, type Goal } from './figures.ts';
import type { Part } from './part.ts';
import { accountCosts } from './program/accounts.ts';
import { callCosts } from './program/calls.ts';
import { describe, type ProgramFigures } from './program/describe.ts';
import { ARCHIVE_TWELVE, instructionCosts } from './program/instructions.ts';
import type { Cost } from './program/measure.ts';

/** Number of calls behind each median. */
const CALLS = 50;

export const programPart: Part = {
  about: 'compute units, bytes and lamports of each instruction',
  async run({ report }) {
    report('program: every instruction');
    const instructions = await instructionCosts();
    report(`program: ${CALLS} paid calls`);
    const { first, ...calls } = await callCosts(CALLS);
    const figures = {
      instructions,
      execution: sum('one execution: open + settle', first),
      accounts: await accountCosts(),
      so_bytes: readProgram(PROGRAMS[0]![1]).length,
      calls,
    };
    return { figures, table: describe(figures), goals: goalsOf(figures) };
  },
};

function find(costs: Cost[], name: string): Cost {
  const found = costs.find((cost) => cost.name === name);
  if (!found) throw new RangeError(`${name} was not measured`);
  return found;
}

function sum(name: string, costs: Cost[]): Cost {
  const total = (pick: (cost: Cost) => number) => costs.reduce((all, cost) => all + pick(cost), 0);
  return {
    name,
    units: total((cost) => cost.units),
    bytes: total((cost) => cost.bytes),
    signatures: total((cost) => cost.signatures),
    fee_lamports: total((cost) => cost.fee_lamports),
    account_bytes: total((cost) => cost.account_bytes),
    rent_lamports: total((cost) => cost.rent_lamports),
  };
}

function goalsOf({ calls, so_bytes, accounts, execution, instructions }: ProgramFigures): Goal[] {
  const { open, settle, refund } = calls.units;
  const record = accounts.find(({ name }) => name === 'ExecutionRecord')!;
  const archive = find(instructions, ARCHIVE_TWELVE);
  return [
    atMost('open + settle, CU, medians', 100_000, open + settle),
    atMost('refund_execution, CU, median', 35_000, refund),
    atMost('settle_execution, bytes', 550, find(instructions, 'settle_execution').bytes),
    atMost('network fees of one execution (2 transactions), lamports', 10_000, execution.fee_lamports),
    atMost('archive_executions, CU a record, 12 at once', 12_500, Math.ceil(archive.units / 12)),
    atMost('archive_executions, lamports a record, 12 at once', 700, Math.ceil(archive.fee_lamports / 12)),
    atMost('program, bytes', 850_000, so_bytes),
    atMost('ExecutionRecord, bytes', 300, record.bytes),
  ];
}
