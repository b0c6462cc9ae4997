/**
 * Instructions for tests/program/verifier: the marketplace's own check of a signature, over any message, and a call
 * with nine arguments.
 */
import { createHash } from 'node:crypto';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { bankrunBinary, programAccounts, readProgram } from './deployment.ts';
import type { Vm } from './vm.ts';

/** Address of the program in tests/program/verifier. */
export const TEST_VERIFIER_ID = new PublicKey('6ATAhYgKAnPB3R9jBsKYWEszrjEZ2TcNy3sncUAU3tbD');

/** Its binary, path from the root. */
export const VERIFIER_BINARY = 'tests/program/verifier/artifact/test_verifier.so';
const discriminator = (name: string) => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
const VERIFY = discriminator('verify');
const PASS_NINE = discriminator('pass_nine');

/** Adds the program to a VM. Not every VM has it, because LiteSVM takes 10 ms to load it. */
export function deployVerifier(vm: Vm): void {
  const binary = readProgram(vm.kind === 'bankrun' ? bankrunBinary(VERIFIER_BINARY) : VERIFIER_BINARY);
  const [program, data] = programAccounts(TEST_VERIFIER_ID, binary, vm.upgradeAuthority.publicKey);
  // A VM looks for the code when the program account is written, so the data account comes first.
  for (const { address, account } of [data, program]) vm.setAccount(address, account);
}

/** A signature to be verified: 32 bytes of key, 64 bytes of signature, any message. */
export interface Signed {
  key: Uint8Array;
  message: Uint8Array;
  signature: Uint8Array;
}

/** Succeeds if the marketplace accepts the signature of the key over the message, else fails with 6000. */
export function verified({ key, message, signature }: Signed): TransactionInstruction {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(message.length);
  const data = Buffer.concat([VERIFY, key, signature, length, message]);
  return new TransactionInstruction({ programId: TEST_VERIFIER_ID, keys: [], data });
}

/** Bytes of each of the nine arguments, in their order. */
export const NINE = [8, 16, 1, 8, 16, 2, 8, 16, 4] as const;

/** The result that the program must compute from nine arguments, with the same steps as its `mixed`. */
export function mixedOfNine(nine: readonly bigint[]): bigint {
  const wrap = (value: bigint) => BigInt.asUintN(128, value);
  const weighed = (values: readonly bigint[]) => values.reduce((sum, value) => wrap(sum * 1_000_003n + value), 0n);
  const [a, b, c, d, e, f, g, h, i] = nine as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  const turned = [g, h, BigInt.asUintN(8, i), a, b, f, d, e, c];
  return wrap(weighed(nine) * 31n + weighed(turned));
}

/** Succeeds if the program computes `expected` from the nine arguments, else fails with 6000. */
export function nineArguments(nine: readonly bigint[], expected: bigint): TransactionInstruction {
  const numbers = [...nine, expected].map((value, at) => {
    const bytes = NINE[at] ?? 16;
    return Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex').reverse();
  });
  return new TransactionInstruction({
    programId: TEST_VERIFIER_ID,
    keys: [],
    data: Buffer.concat([PASS_NINE, ...numbers]),
  });
}
