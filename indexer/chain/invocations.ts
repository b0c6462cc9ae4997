/**
 * Reads a transaction's calls of the marketplace from its instructions, which neither a cut log nor an account shows.
 */
import type { PublicKey, VersionedTransactionResponse } from '@solana/web3.js';
import { decodeBase58 } from '../../app/sdk/program/base58.ts';
import { isEventInstruction } from '../../app/sdk/program/events.ts';
import { decodeInstruction, idl } from '../../app/sdk/program/program.ts';

/** One instruction of the marketplace, at the top level or called by another program. */
export interface Invocation {
  /** The instruction's name in the IDL. */
  name: string;
  /** Addresses by the IDL's names. */
  accounts: Record<string, string>;
  data: Uint8Array;
}

/** An instruction of the program: the addresses of its accounts, and its data. */
export interface ProgramInstruction {
  accounts: string[];
  data: Uint8Array;
}

/** An address of a transaction, and whether it could change. */
interface NamedAccount {
  address: string;
  writable: boolean;
}

/** Every address that the transaction names, those from lookup tables too, in the order that instructions index. */
export function readAddresses(transaction: VersionedTransactionResponse): NamedAccount[] {
  const { message } = transaction.transaction;
  const loaded = transaction.meta?.loadedAddresses;
  const keys = [...message.staticAccountKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])];
  return keys.map((key, index) => ({ address: key.toString(), writable: message.isAccountWritable(index) }));
}

/** The calls among the program's instructions. */
export function readInvocations(instructions: readonly ProgramInstruction[]): Invocation[] {
  return instructions.flatMap(({ accounts, data }) => {
    const known = idl.instructions.find(({ discriminator }) => discriminator.every((byte, at) => data[at] === byte));
    if (!known) return [];
    const named = known.accounts.map((account, at) => [account.name, accounts[at] ?? ''] as const);
    return [{ name: known.name, accounts: Object.fromEntries(named), data }];
  });
}

/** Data of the program's calls to itself, which carry events that no log has, in the order they ran. */
export function readCarried(instructions: readonly ProgramInstruction[]): Uint8Array[] {
  return instructions.map(({ data }) => data).filter(isEventInstruction);
}

/** The program's instructions in the order in which they ran, including those called by other programs. */
export function readInstructions(
  transaction: VersionedTransactionResponse,
  programId: PublicKey,
): ProgramInstruction[] {
  const addresses = readAddresses(transaction).map(({ address }) => address);
  const program = programId.toBase58();
  const inner = new Map(
    (transaction.meta?.innerInstructions ?? []).map(({ index, instructions }) => [index, instructions]),
  );
  const read = (accounts: readonly number[], data: Uint8Array) => ({
    accounts: accounts.map((at) => addresses[at] ?? ''),
    data,
  });
  return transaction.transaction.message.compiledInstructions.flatMap((instruction, index) => [
    ...(addresses[instruction.programIdIndex] === program
      ? [read(instruction.accountKeyIndexes, instruction.data)]
      : []),
    ...(inner.get(index) ?? [])
      .filter((called) => addresses[called.programIdIndex] === program)
      .map((called) => read(called.accounts, decodeBase58(called.data))),
  ]);
}

/** The number of the reason that a `refund_execution` gives. */
export function readReason({ data }: Invocation): bigint {
  // The one byte after the discriminator.
  return BigInt(data[8] ?? 0);
}

/** An instruction's arguments by name. */
export function readArguments({ data }: Invocation): Record<string, unknown> {
  return decodeInstruction(data)?.args ?? {};
}
