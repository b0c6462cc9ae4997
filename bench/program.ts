/** The cost of the program on the current runtime (LiteSVM): every instruction, its accounts, and a whole paid call. */
import { idl } from '../app/sdk/program/program.ts';
import { PROGRAMS, readProgram } from '../tests/harness/vm/deployment.ts';
import { emptyWorld } from '../tests/harness/vm/world.ts';
import { atMost, type Goal } from './figures.ts';
import type { Part } from './part.ts';
import { accountCosts } from './program/accounts.ts';
import { callCosts } from './program/calls.ts';
import { describe, type ProgramFigures } from './program/describe.ts';
import { type Cost, measure } from './program/measure.ts';
import { ARCHIVE_TWELVE, OPEN, SETTLE, steps } from './program/steps.ts';

/** Number of calls behind each median. */
const CALLS = 50;

export const programPart: Part = {
  about: 'compute units, bytes and lamports of each instruction',
  async run({ report }) {
    report('program: every instruction');
    const instructions = await everyInstruction();
    report(`program: ${CALLS} paid calls`);
    const figures = {
      instructions,
      execution: sum('one execution: open + settle', [find(instructions, OPEN), find(instructions, SETTLE)]),
      accounts: await accountCosts(),
      so_bytes: readProgram(PROGRAMS[0]![1]).length,
      calls: await callCosts(CALLS),
    };
    return { figures, table: describe(figures), goals: goalsOf(figures) };
  },
};

async function everyInstruction(): Promise<Cost[]> {
  const w = await emptyWorld('litesvm');
  const costs: Cost[] = [];
  const missing = new Set(idl.instructions.map(({ name }) => name));
  for await (const step of steps(w)) {
    costs.push(await measure(w.vm, step));
    missing.delete(step.name.split(' ')[0]!);
  }
  if (missing.size > 0) throw new Error(`bench/program/steps.ts and settings.ts lack ${[...missing].join(', ')}.`);
  return costs;
}

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
    atMost('settle_execution, bytes', 550, find(instructions, SETTLE).bytes),
    atMost('network fees of one execution (2 transactions), lamports', 10_000, execution.fee_lamports),
    atMost('archive_executions, CU a record, 12 at once', 12_500, Math.ceil(archive.units / 12)),
    atMost('archive_executions, lamports a record, 12 at once', 700, Math.ceil(archive.fee_lamports / 12)),
    atMost('program, bytes', 850_000, so_bytes),
    atMost('ExecutionRecord, bytes', 300, record.bytes),
  ];
}
