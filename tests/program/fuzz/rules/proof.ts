/** The signatures that instructions carry, and what the program asks of them. */
import type { Keypair } from '@solana/web3.js';
import nacl from 'tweetnacl';
import * as program from '../../../../app/sdk/program/program.ts';
import { resultMessage } from '../../../harness/vm/world.ts';
import { demand } from '../ledger.ts';

/** A key's signature over a message, in which a bit may be wrong. */
export interface Proof {
  by: Keypair;
  message: Uint8Array;
  /** The byte with the wrong bit. */
  broken?: number;
}

/** Signatures take long, and a sequence asks for the same few. */
const made = new Map<string, Uint8Array>();

/** The 64 bytes. */
export function signatureOf({ by, message, broken }: Proof): Uint8Array {
  const name = `${by.publicKey.toBase58()} ${Buffer.from(message).toString('hex')} ${broken}`;
  const known = made.get(name);
  if (known) return known;
  const signature = nacl.sign.detached(message, by.secretKey);
  if (broken !== undefined) signature[broken]! ^= 1;
  made.set(name, signature);
  return signature;
}

/** The proof must be `signer`'s whole signature over `message`. */
export function demandSignature(proof: Proof, signer: string, message: Uint8Array): void {
  const whole = proof.broken === undefined && Buffer.from(proof.message).equals(message);
  demand(whole && proof.by.publicKey.toBase58() === signer, 'SignatureInvalid');
}

/** The message by which a signing key is shown to be the creator's. */
export const possession = program.registerMessage;
/** The message by which a result is. */
export const result = resultMessage;
