/** Signatures in instructions, and the program's rules for them. */
import type { Keypair } from '@solana/web3.js';
import nacl from 'tweetnacl';
import * as program from '../../../../app/sdk/program/program.ts';
import { resultMessage } from '../../../harness/vm/world.ts';
import { demand } from '../ledger.ts';

/** A key's signature over a message, optionally with a wrong bit. */
export interface Proof {
  by: Keypair;
  message: Uint8Array;
  /** Index of the byte with the wrong bit. */
  broken?: number;
}

/** Caches signatures, because signing is slow and a sequence needs the same few. */
const made = new Map<string, Uint8Array>();

/** The 64 bytes of the signature. */
export function signatureOf({ by, message, broken }: Proof): Uint8Array {
  const name = `${by.publicKey.toBase58()} ${Buffer.from(message).toString('hex')} ${broken}`;
  const known = made.get(name);
  if (known) return known;
  const signature = nacl.sign.detached(message, by.secretKey);
  if (broken !== undefined) signature[broken]! ^= 1;
  made.set(name, signature);
  return signature;
}

/** The proof must be an intact signature by `signer` over `message`. */
export function demandSignature(proof: Proof, signer: string, message: Uint8Array): void {
  const whole = proof.broken === undefined && Buffer.from(proof.message).equals(message);
  demand(whole && proof.by.publicKey.toBase58() === signer, 'SignatureInvalid');
}

/** The message of a signing key's proof of possession. */
export const possession = program.registerMessage;
/** The message that signs a result. */
export const result = resultMessage;
