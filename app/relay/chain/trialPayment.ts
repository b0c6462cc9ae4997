/**
 * Tries an x402 client's payment together with the preparation of its deposit, before anything is sent. The payment alone
 * would fail, because its vault does not exist yet. Signatures are not checked.
 */
import {
  ComputeBudgetProgram,
  type PublicKey,
  TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { PROGRAM_ID } from '../../sdk/program/program.ts';
import type { Simulation } from '../../solana/calls.ts';
import { toVersionOne } from './versionOne.ts';

/** First byte of the instruction that sets the limit of compute units, and units of each such instruction. */
const SET_UNIT_LIMIT = 2;
const BUDGET_UNITS = 150;

/** The part that fails: the preparation, for whatever reason, or the payment after it. */
export type Failing = 'preparation' | 'payment';

/** The transaction to simulate: the preparation, paid by `authority`, then the payment. Its blockhash is any. */
export function joinPayment(preparation: TransactionInstruction[], payment: Uint8Array, authority: PublicKey): Buffer {
  const { message } = VersionedTransaction.deserialize(payment);
  const instructions = [...preparation, ...instructionsOf(message)];
  const recentBlockhash = message.recentBlockhash;
  return toVersionOne(
    new TransactionMessage({ payerKey: authority, recentBlockhash, instructions }).compileToV0Message(),
  );
}

/**
 * The failing part of such a transaction; null if both succeed. The payment has its own limit of compute units, which
 * counts its budget instructions too. Version 1 has none.
 */
export function failingOf(
  { error, logs, units }: Simulation,
  preparation: TransactionInstruction[],
  payment: Uint8Array,
): Failing | null {
  if (error !== null) return isOfPreparation(error, preparation.length) ? 'preparation' : 'payment';
  const { message } = VersionedTransaction.deserialize(payment);
  const budget = message.compiledInstructions.filter((one) => isBudget(message, one));
  const limit = budget.find(({ data }) => data[0] === SET_UNIT_LIMIT);
  if (!limit) return null;
  const used = units - (preparation.length > 0 ? unitsOf(logs) : 0) + budget.length * BUDGET_UNITS;
  return used > Buffer.from(limit.data).readUInt32LE(1) ? 'payment' : null;
}

type Compiled = VersionedMessage['compiledInstructions'][number];

const isBudget = ({ staticAccountKeys }: VersionedMessage, { programIdIndex }: Compiled): boolean =>
  staticAccountKeys[programIdIndex]?.equals(ComputeBudgetProgram.programId) === true;

/** The instructions of a message, without the budget. Its accounts keep their flags. */
function instructionsOf(message: VersionedMessage): TransactionInstruction[] {
  return message.compiledInstructions
    .filter((one) => !isBudget(message, one))
    .map(({ programIdIndex, accountKeyIndexes, data }) => {
      const keys = accountKeyIndexes.map((index) => ({
        pubkey: message.staticAccountKeys[index]!,
        isSigner: message.isAccountSigner(index),
        isWritable: message.isAccountWritable(index),
      }));
      return new TransactionInstruction({
        programId: message.staticAccountKeys[programIdIndex]!,
        keys,
        data: Buffer.from(data),
      });
    });
}

/** Errors of a transaction whose payer, the relay, has too little. */
const PAYER_ERRORS = ['AccountNotFound', 'InsufficientFundsForFee', 'InsufficientFundsForRent'];

/** True if the relay's payer has too little, or if one of the first `instructions` fails. */
export function isOfPreparation(error: NonNullable<Simulation['error']>, instructions: number): boolean {
  if (typeof error === 'string') return PAYER_ERRORS.includes(error);
  const { InstructionError: failed } = error as { InstructionError?: [number, unknown] };
  return failed ? failed[0] < instructions : PAYER_ERRORS.some((name) => name in error);
}

/** Units of the first instruction, which is the program's. */
function unitsOf(logs: readonly string[]): number {
  const consumed = new RegExp(`^Program ${PROGRAM_ID} consumed (\\d+) of`);
  for (const line of logs) {
    const found = consumed.exec(line);
    if (found) return Number(found[1]);
  }
  throw new Error('the simulation has no log of the preparation');
}
