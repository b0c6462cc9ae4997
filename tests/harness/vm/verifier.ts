/**
 * Instructions for tests/program/verifier: a signature put to the marketplace's own check, over any message, and a call
 * with nine arguments.
 */
import { createHash } from 'node:crypto';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { bankrunBinary, programAccounts, readProgram } from './deployment.ts';
import type { Vm } from './vm.ts';

/** The program of tests/program/verifier. */
export const TEST_VERIFIER_ID = new PublicKey('6ATAhYgKAnPB3R9jBsKYWEszrjEZ2TcNy3sncUAU3tbD');

/** Its build, from the root. */
export const VERIFIER_BINARY = 'tests/program/verifier/artifact/test_verifier.so';
const discriminator = (name: string) => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
const VERIFY = discriminator('verify');
const PASS_NINE = discriminator('pass_nine');

/** Adds the program to a VM. It is not among those of every VM because loading it takes LiteSVM 10 ms. */
export function deployVerifier(vm: Vm): void {
  const binary = readProgram(vm.kind === 'bankrun' ? bankrunBinary(VERIFIER_BINARY) : VERIFIER_BINARY);
  const [program, data] = programAccounts(TEST_VERIFIER_ID, binary, vm.upgradeAuthority.publicKey);
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
  const data = Buffer.concat([VERIFY, key, signature, length, message]);
  return new TransactionInstruction({ programId: TEST_VERIFIER_ID, keys: [], data });
}

/** Bytes of each of the nine arguments, in their order. */
export const NINE = [8, 16, 1, 8, 16, 2, 8, 16, 4] as const;

/** What the program has to make of nine arguments; the same steps as its `mixed`. */
export function mixedOfNine(nine: readonly bigint[]): bigint {
  const wrap = (value: bigint) => BigInt.asUintN(128, value);
  const weighed = (values: readonly bigint[]) => values.reduce((sum, value) => wrap(sum * 1_000_003n + value), 0n);
  const [a, b, c, d, e, f, g, h, i] = nine as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  const turned = [g, h, BigInt.asUintN(8, i), a, b, f, d, e, c];
  return wrap(weighed(nine) * 31n + weighed(turned));
}

/** Succeeds where the program makes `expected` of the nine arguments; fails with 6000 elsewhere. */
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
