/**
 * Instructions for tests/program/standard: a hand-written piece of the marketplace, and the standard one that it stands for.
 */
import { createHash } from 'node:crypto';
import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { programAccounts, readProgram } from './deployment.ts';
import type { Vm } from './vm.ts';

/** The program of tests/program/standard. */
export const TEST_STANDARD_ID = new PublicKey('5QphvkQr5SsijuJxh6LbWL8rYh1KcJ8SkXbGDjubfQkd');

/** Its build, from the root. */
const BINARY = 'tests/program/standard/artifact/test_standard.so';

/** Adds the program to a VM. */
export function deployStandard(vm: Vm): void {
  const [program, data] = programAccounts(TEST_STANDARD_ID, readProgram(BINARY), vm.upgradeAuthority.publicKey);
  // A VM looks for the code when it is given the program.
  for (const { address, account } of [data, program]) vm.setAccount(address, account);
}

/** One instruction of it, `args` encoded. */
export function standardInstruction(name: string, keys: AccountMeta[], ...args: Uint8Array[]): TransactionInstruction {
  const discriminator = createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
  return new TransactionInstruction({
    programId: TEST_STANDARD_ID,
    keys,
    data: Buffer.concat([discriminator, ...args]),
  });
}
