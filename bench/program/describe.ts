/** The program's figures as Markdown, for the terminal and docs/measured.md. */
import { idl } from '../../app/sdk/program/program.ts';
import type { InstructionCost, ProgramFigures } from './figures.ts';
import type { Goal } from './goals.ts';
import { toTable } from './table.ts';
import type { OpenSpread, StageCost, Versus } from './versus.ts';

/** All figures, a table for each kind. */
export function describe(figures: ProgramFigures, goals: Goal[]): string {
  const { instructions, execution, accounts, so_bytes, versus } = figures;
  return [
    instructionTable([...instructions, execution]),
    toTable(
      ['account', 'bytes', 'rent'],
      accounts.map(({ name, bytes, rent_lamports }) => [name, bytes, rent_lamports]),
    ),
    versusTable(versus, so_bytes),
    spreadTable(versus),
    toTable(
      ['goal', 'at most', 'measured', 'earlier', 'met'],
      goals.map(({ name, at_most, measured, earlier, met }) => [
        name,
        at_most,
        measured,
        earlier ?? '',
        met ? 'yes' : 'no',
      ]),
    ),
  ].join('\n\n');
}

function instructionTable(costs: InstructionCost[]): string {
  const heads = ['instruction', 'CU litesvm', 'CU bankrun', 'tx bytes', 'signatures', 'fee', 'account bytes', 'rent'];
  const rows = costs.map((cost) => [
    cost.name,
    ...[cost.units.litesvm, cost.units.bankrun, cost.bytes, cost.signatures, cost.fee_lamports],
    ...[cost.account_bytes, cost.rent_lamports],
  ]);
  return toTable(heads, rows);
}

/** What both programs take for the same calls, and how many times ours the naive one takes. */
function versusTable({ ours, naive, naive_so_bytes }: Versus, so_bytes: number): string {
  const row = (name: string, mine: number, theirs: number) => [name, mine, theirs, `${(theirs / mine).toFixed(2)} x`];
  const figure = (name: string, pick: (stages: typeof ours) => number) => row(name, pick(ours), pick(naive));
  const rows: (string | number)[][] = [];
  for (const stage of ['open', 'settle', 'refund'] as const) {
    for (const vm of ['litesvm', 'bankrun'] as const) {
      rows.push(figure(`${stage}, CU ${vm}`, (stages) => stages[stage].units[vm]));
    }
    rows.push(figure(`${stage}, tx bytes`, (stages) => stages[stage].bytes));
  }
  const both = (pick: (stage: StageCost) => number) => (stages: typeof ours) => pick(stages.open) + pick(stages.settle);
  rows.push(
    figure(
      'open + settle, CU litesvm',
      both(({ units }) => units.litesvm),
    ),
    figure(
      'open + settle, CU bankrun',
      both(({ units }) => units.bankrun),
    ),
    figure(
      'open + settle, tx bytes',
      both(({ bytes }) => bytes),
    ),
    figure('account bytes while open', ({ open }) => open.account_bytes),
    figure('rent while open', ({ open }) => open.rent_lamports),
    figure(
      'account bytes after settle',
      both(({ account_bytes }) => account_bytes),
    ),
    figure(
      'rent after settle',
      both(({ rent_lamports }) => rent_lamports),
    ),
    row(`program, bytes (${idl.instructions.length} instructions against 3)`, so_bytes, naive_so_bytes),
  );
  return toTable(['the same paid call, medians', 'ours', 'naive', 'naive : ours'], rows);
}

function spreadTable({ calls, opens, naive_opens }: Versus): string {
  const heads = [`CU of ${calls} opens by grant`, 'no bump missed', 'least', 'median', 'p90', 'most'];
  const row = (name: string, base: number | string, { min, p50, p90, max }: Omit<OpenSpread, 'base'>) => [
    ...[name, base, min, p50, p90, max],
  ];
  return toTable(heads, [
    row('ours, litesvm', opens.litesvm.base, opens.litesvm),
    row('ours, bankrun', opens.bankrun.base, opens.bankrun),
    row('naive, litesvm', '', naive_opens.litesvm),
    row('naive, bankrun', '', naive_opens.bankrun),
  ]);
}
