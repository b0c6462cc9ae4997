/**
 * Instructions for tests/program/standard: hand-written pieces of the marketplace, and the standard ones they replace.
 */
import { createHash } from 'node:crypto';
import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { programAccounts, readProgram } from './deployment.ts';
import type { Vm } from './vm.ts';

/** Address of the program in tests/program/standard. */
export const TEST_STANDARD_ID = new PublicKey('5QphvkQr5SsijuJxh6LbWL8rYh1KcJ8SkXbGDjubfQkd');

/** Its binary, path from the root. */
const BINARY = 'tests/program/standard/artifact/test_standard.so';

/** Adds the program to a VM. */
export function deployStandard(vm: Vm): void {
  const [program, data] = programAccounts(TEST_STANDARD_ID, readProgram(BINARY), vm.upgradeAuthority.publicKey);
  // A VM looks for the code when the program account is written, so the data account comes first.
  for (const { address, account } of [data, program]) vm.setAccount(address, account);
}

/** One instruction of the program. `args` are already encoded. */
export function standardInstruction(name: string, keys: AccountMeta[], ...args: Uint8Array[]): TransactionInstruction {
  const discriminator = createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
  return new TransactionInstruction({
    programId: TEST_STANDARD_ID,
    keys,
    data: Buffer.concat([discriminator, ...args]),
  });
}
