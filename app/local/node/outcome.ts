/** The result of a VM run, in a validator's format. */
import type { TransactionError } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  type Account,
  FailedTransactionMetadata,
  type LiteSvm,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js';
import type { LandedMeta } from './history.ts';
import { readError } from './transaction.ts';

/** The result of a run or a simulation. */
export interface Outcome {
  err: TransactionError | null;
  meta: TransactionMetadata;
}

export interface Simulated extends Outcome {
  /** Accounts as it would leave them, by address. */
  postAccounts: Map<string, Account>;
}

/** After a run by the VM there are always logs, even if empty. */
interface Reported extends Pick<LandedMeta, 'computeUnitsConsumed' | 'returnData'> {
  logMessages: string[];
}

/** An error's kind. */
export function nameOf(err: TransactionError): string {
  return typeof err === 'string' ? err : Object.keys(err)[0]!;
}

export function outcomeOf(
  result: ReturnType<LiteSvm['sendVersionedTransaction' | 'simulateVersionedTransaction']>,
): Outcome {
  if (result instanceof FailedTransactionMetadata) return { err: readError(result.toString()), meta: result.meta() };
  return { err: null, meta: 'meta' in result ? result.meta() : result };
}

/** The VM's metadata of a run, in the wire format. */
export function describe(meta: TransactionMetadata): Reported {
  const returned = meta.returnData();
  const data = Buffer.from(returned.data());
  return {
    logMessages: meta.logs(),
    computeUnitsConsumed: Number(meta.computeUnitsConsumed()),
    returnData:
      data.length > 0
        ? {
            programId: bs58.encode(returned.programId()),
            data: [data.toString('base64'), 'base64'] as [string, 'base64'],
          }
        : null,
  };
}

/** Not part of `describe`, because base58 of an archive's event takes longer than its run. */
export function innerInstructionsOf(meta: TransactionMetadata): NonNullable<LandedMeta['innerInstructions']> {
  return meta.innerInstructions().flatMap((inner, index) =>
    inner.length === 0
      ? []
      : {
          index,
          instructions: inner.map((entry) => {
            const instruction = entry.instruction();
            return {
              programIdIndex: instruction.programIdIndex(),
              accounts: [...instruction.accounts()],
              data: bs58.encode(instruction.data()),
              stackHeight: entry.stackHeight(),
            };
          }),
        },
  );
}
