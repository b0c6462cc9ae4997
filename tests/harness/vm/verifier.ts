/** Instructions for tests/program/verifier: a signature put to the marketplace's own check, over any message. */
import { createHash } from 'node:crypto';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';

/** The program of tests/program/verifier. */
export const TEST_VERIFIER_ID = new PublicKey('6ATAhYgKAnPB3R9jBsKYWEszrjEZ2TcNy3sncUAU3tbD');

const DISCRIMINATOR = createHash('sha256').update('global:verify').digest().subarray(0, 8);

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
