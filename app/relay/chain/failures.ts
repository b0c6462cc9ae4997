/** Explains why a transaction failed, or would fail. */
import { ComputeBudgetProgram, type TransactionError, VersionedTransaction } from '@solana/web3.js';
import { errorFromCode } from '../../sdk/program/program.ts';

/** The runtime's error for a program that is replaced in the same slot, or was closed. */
export const UPGRADING = 'UnsupportedProgramId';

/** The failure of a simulated or landed transaction, with the program's error name if it has one. */
export interface TransactionFailure {
  /** Name from the IDL, e.g. `PayoutUnusable`, or `UPGRADING`; null for any other failure. */
  error: string | null;
  message: string;
  /** Index of the failed instruction; null if the whole transaction was refused. */
  instruction: number | null;
  /** True if a program refused it; false if it broke a rule or limit of the runtime, such as that of all instructions. */
  byProgram: boolean;
}

/** Names a transaction error like the IDL. */
export function describeFailure(failure: TransactionError): TransactionFailure {
  if (typeof failure === 'object' && 'InstructionError' in failure) {
    const [index, detail] = failure.InstructionError as [number, string | { Custom?: number }];
    if (detail === UPGRADING)
      return { error: UPGRADING, message: 'the program is being upgraded', instruction: index, byProgram: false };
    const code = typeof detail === 'object' ? detail.Custom : undefined;
    const known = code === undefined ? null : errorFromCode(code);
    if (known) return { error: known.name, message: known.msg, instruction: index, byProgram: true };
    const message = `instruction ${index}: ${JSON.stringify(detail)}`;
    return { error: null, message, instruction: index, byProgram: code !== undefined };
  }
  const message = typeof failure === 'string' ? failure : JSON.stringify(failure);
  return { error: null, message, instruction: null, byProgram: false };
}

/** The failure of these bytes. Its instruction index does not count the instructions that set a price. */
export function describeFailureOf(bytes: Uint8Array, error: TransactionError): TransactionFailure {
  const failure = describeFailure(error);
  return failure.instruction === null
    ? failure
    : { ...failure, instruction: failure.instruction - countPriority(VersionedTransaction.deserialize(bytes)) };
}

/** Number of leading instructions that only set the price. */
function countPriority({ message }: VersionedTransaction): number {
  const isPriority = ({ programIdIndex }: { programIdIndex: number }) =>
    message.staticAccountKeys[programIdIndex]?.equals(ComputeBudgetProgram.programId);
  const first = message.compiledInstructions.findIndex((instruction) => !isPriority(instruction));
  return Math.max(0, first);
}
