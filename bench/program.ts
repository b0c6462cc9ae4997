/**
 * What the program costs: every instruction on both VMs, its accounts, a whole paid call, the same call written the naive
 * way, and the goals. Part of `npm run bench`; alone: `npx tsx bench/program.ts`.
 */
import { pathToFileURL } from 'node:url';
import { PROGRAMS, readProgram } from '../tests/harness/vm/deployment.ts';
import type { VmKind } from '../tests/harness/vm/vm.ts';
import { emptyWorld } from '../tests/harness/vm/world.ts';
import { accountCosts } from './program/accounts.ts';
import { describe } from './program/describe.ts';
import type { InstructionCost, ProgramFigures } from './program/figures.ts';
import { type Goal, goals } from './program/goals.ts';
import { type Cost, measure } from './program/measure.ts';
import { deployNaive } from './program/naive.ts';
import { OPEN, SETTLE, steps } from './program/steps.ts';
import { compare } from './program/versus.ts';

export interface ProgramBench extends ProgramFigures {
  goals: Goal[];
  /** All of it as text. */
  table: string;
}

/** How many opens the spread and the comparison are of. */
const CALLS = 50;

/** Everything above, measured now. `report` hears the progress. */
export async function benchProgram(report: (line: string) => void = () => {}): Promise<ProgramBench> {
  deployNaive();
  report('every instruction on LiteSVM and bankrun ...');
  const instructions = await everyInstruction();
  report(`${CALLS} paid calls by this program and by the naive one, on both ...`);
  const figures = {
    instructions,
    execution: sum('one execution: open + settle', [find(instructions, OPEN), find(instructions, SETTLE)]),
    accounts: await accountCosts(),
    so_bytes: readProgram(PROGRAMS[0]![1]).length,
    versus: await compare(CALLS),
  };
  const reached = goals(figures);
  return { ...figures, goals: reached, table: describe(figures, reached) };
}

async function everyInstruction(): Promise<InstructionCost[]> {
  const [litesvm, bankrun] = [await measureAll('litesvm'), await measureAll('bankrun')];
  return litesvm.map((cost, index) => ({ ...cost, units: { litesvm: cost.units, bankrun: bankrun[index]!.units } }));
}

async function measureAll(kind: VmKind): Promise<Cost[]> {
  const w = await emptyWorld(kind);
  const costs: Cost[] = [];
  for await (const step of steps(w)) costs.push(await measure(w.vm, step));
  return costs;
}

function find(costs: InstructionCost[], name: string): InstructionCost {
  const found = costs.find((cost) => cost.name === name);
  if (!found) throw new RangeError(`${name} was not measured`);
  return found;
}

function sum(name: string, costs: InstructionCost[]): InstructionCost {
  const total = (pick: (cost: InstructionCost) => number) => costs.reduce((all, cost) => all + pick(cost), 0);
  return {
    name,
    units: { litesvm: total((cost) => cost.units.litesvm), bankrun: total((cost) => cost.units.bankrun) },
    bytes: total((cost) => cost.bytes),
    signatures: total((cost) => cost.signatures),
    fee_lamports: total((cost) => cost.fee_lamports),
    account_bytes: total((cost) => cost.account_bytes),
    rent_lamports: total((cost) => cost.rent_lamports),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log((await benchProgram((line) => console.error(line))).table);
}
