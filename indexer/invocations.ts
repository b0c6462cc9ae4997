/**
 * Reads a transaction's calls of the marketplace from its instructions, which neither a cut log nor an account shows.
 */
import type { PublicKey, VersionedTransactionResponse } from '@solana/web3.js';
import bs58 from 'bs58';
import { isEventInstruction } from '../app/sdk/program/events.ts';
import { decodeInstruction, idl } from '../app/sdk/program/program.ts';

/** One instruction of the marketplace, at the top level or called by another program. */
export interface Invocation {
  /** The instruction's name in the IDL. */
  name: string;
  /** Addresses by the IDL's names. */
  accounts: Record<string, string>;
  data: Uint8Array;
}

/** An address of a transaction, and whether it could change. */
export interface NamedAccount {
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

/** The program's instructions in the order in which they ran. */
export function readInvocations(transaction: VersionedTransactionResponse, programId: PublicKey): Invocation[] {
  return readInstructions(transaction, programId).flatMap(({ accounts, data }) => {
    const known = idl.instructions.find(({ discriminator }) => discriminator.every((byte, at) => data[at] === byte));
    if (!known) return [];
    const named = known.accounts.map((account, at) => [account.name, accounts[at] ?? ''] as const);
    return [{ name: known.name, accounts: Object.fromEntries(named), data }];
  });
}

/** Data of the program's calls to itself, which carry events that no log has, in the order they ran. */
export function readCarried(transaction: VersionedTransactionResponse, programId: PublicKey): Uint8Array[] {
  const carrying = readInstructions(transaction, programId).filter(({ data }) => isEventInstruction(data));
  return carrying.map(({ data }) => data);
}

/** The program's instructions with the addresses of their accounts, including those called by other programs. */
function readInstructions(transaction: VersionedTransactionResponse, programId: PublicKey) {
  const addresses = readAddresses(transaction).map(({ address }) => address);
  const inner = new Map(
    (transaction.meta?.innerInstructions ?? []).map(({ index, instructions }) => [index, instructions]),
  );
  const all = transaction.transaction.message.compiledInstructions.flatMap((instruction, index) => [
    { program: instruction.programIdIndex, accounts: instruction.accountKeyIndexes, data: instruction.data },
    ...(inner.get(index) ?? []).map((called) => ({
      program: called.programIdIndex,
      accounts: called.accounts,
      data: bs58.decode(called.data),
    })),
  ]);
  const ours = all.filter(({ program }) => addresses[program] === programId.toBase58());
  return ours.map(({ accounts, data }) => ({ accounts: Array.from(accounts, (at) => addresses[at] ?? ''), data }));
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
