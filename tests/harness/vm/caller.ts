/** Instructions for tests/program/caller, which forwards instructions by CPI with a PDA, or prints log lines. */
import { createHash } from 'node:crypto';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { TEST_CALLER_ID } from './outcome.ts';

/** The PDA of the test caller for a seed. */
export function findCallerPda(seed = 'wallet'): PublicKey {
  return PublicKey.findProgramAddressSync([Buffer.from('caller'), Buffer.from(seed)], TEST_CALLER_ID)[0];
}

/** Forwards `instruction` `times` times by CPI. The PDA signs the CPI, so it must not sign the transaction. */
export function relayed(instruction: TransactionInstruction, times = 1, seed = 'wallet'): TransactionInstruction {
  const pda = findCallerPda(seed);
  const keys = instruction.keys.map((key) => ({ ...key, isSigner: key.isSigner && !key.pubkey.equals(pda) }));
  const target = { pubkey: instruction.programId, isSigner: false, isWritable: false };
  const data = Buffer.concat([
    discriminator('relay'),
    bytes(Buffer.from(seed)),
    bytes(instruction.data),
    Buffer.of(times),
  ]);
  return new TransactionInstruction({ programId: TEST_CALLER_ID, keys: [target, ...keys], data });
}

/** Prints `data` as a `Program data:` line and `line` as a `Program log:` line. */
export function printed(data: Uint8Array, line = ''): TransactionInstruction {
  const args = Buffer.concat([discriminator('print'), bytes(data), bytes(Buffer.from(line))]);
  return new TransactionInstruction({ programId: TEST_CALLER_ID, keys: [], data: args });
}

function discriminator(name: string): Buffer {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
}

function bytes(value: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(value.length);
  return Buffer.concat([length, value]);
}
