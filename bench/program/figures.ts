/** What is known of the program's cost once all of it is measured. */
import type { VmKind } from '../../tests/harness/vm/vm.ts';
import type { AccountCost } from './accounts.ts';
import type { Cost } from './measure.ts';
import type { Versus } from './versus.ts';

/** One instruction on both VMs; all but the units are the same on both. */
export type InstructionCost = Omit<Cost, 'units'> & { units: Record<VmKind, number> };

export interface ProgramFigures {
  instructions: InstructionCost[];
  /** One paid call: open by grant, then settle, a transaction each. */
  execution: InstructionCost;
  accounts: AccountCost[];
  /** Size of the program. */
  so_bytes: number;
  versus: Versus;
}
