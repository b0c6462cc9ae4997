/** Instructions for tests/program/verifier: a signature put to the marketplace's own check, over any message. */
import { createHash } from 'node:crypto';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { programAccounts, readProgram } from './deployment.ts';
import type { Vm } from './vm.ts';

/** The program of tests/program/verifier. */
export const TEST_VERIFIER_ID = new PublicKey('6ATAhYgKAnPB3R9jBsKYWEszrjEZ2TcNy3sncUAU3tbD');

const BINARY = 'tests/program/verifier/artifact/test_verifier.so';
const DISCRIMINATOR = createHash('sha256').update('global:verify').digest().subarray(0, 8);

/** Adds the program to a VM. It is not among those of every VM because loading it takes LiteSVM 10 ms. */
export function deployVerifier(vm: Vm): void {
  const [program, data] = programAccounts(TEST_VERIFIER_ID, readProgram(BINARY), vm.upgradeAuthority.publicKey);
  // A VM looks for the code when it is given the program.
  for (const { address, account } of [data, program]) vm.setAccount(address, account);
}

/** A signature to be verified: 32 bytes of key, 64 bytes of signature, any message. */
export interface Signed {
  key: Uint8Array;
  message: Uint8Array;
  signature: Uint8Array;
}

/** Succeeds where the marketplace takes the signature for the key's over the message; fails with 6000 elsewhere. */
export function verified({ key, message, signature }: Signed): TransactionInstruction {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(message.length);
  const data = Buffer.concat([DISCRIMINATOR, key, signature, length, message]);
  return new TransactionInstruction({ programId: TEST_VERIFIER_ID, keys: [], data });
}
