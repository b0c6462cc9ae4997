/** Formats the program's figures as Markdown for the terminal and docs/measured.md. */
import { toTable } from '../figures.ts';
import type { AccountCost } from './accounts.ts';
import type { CallCosts } from './calls.ts';
import type { Cost } from './measure.ts';

export interface ProgramFigures {
  instructions: Cost[];
  /** One paid call: an open by grant and a settle, each in its own transaction. */
  execution: Cost;
  accounts: AccountCost[];
  /** Size of the program. */
  so_bytes: number;
  calls: CallCosts;
}

/** All figures, one table per kind. */
export function describe({ instructions, execution, accounts, calls }: ProgramFigures): string {
  return [
    instructionTable([...instructions, execution]),
    toTable(
      ['account', 'bytes', 'rent'],
      accounts.map(({ name, bytes, rent_lamports }) => [name, bytes, rent_lamports]),
    ),
    callTable(calls),
  ].join('\n\n');
}

function instructionTable(costs: Cost[]): string {
  const heads = ['instruction', 'CU', 'tx bytes', 'signatures', 'fee', 'account bytes', 'rent'];
  const rows = costs.map((cost) => [
    cost.name,
    ...[cost.units, cost.bytes, cost.signatures, cost.fee_lamports],
    ...[cost.account_bytes, cost.rent_lamports],
  ]);
  return toTable(heads, rows);
}

function callTable({ calls, opens, units }: CallCosts): string {
  const heads = [`CU, ${calls} calls by grant`, 'least', 'median', 'p90', 'most'];
  return toTable(heads, [
    ['open', opens.min, opens.p50, opens.p90, opens.max],
    ['settle', '', units.settle, '', ''],
    ['refund', '', units.refund, '', ''],
  ]);
}
