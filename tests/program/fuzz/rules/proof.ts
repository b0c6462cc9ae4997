/** The signature check that stands before an instruction, and what the program asks of it. */
import type { Keypair } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { resultMessage } from '../../../harness/vm/world.ts';
import { demand } from '../ledger.ts';

/** What precedes the instruction: nothing, an instruction of another program, or a key's signature over a message. */
export type Proof = 'nothing' | 'other program' | { by: Keypair; message: Uint8Array; broken?: boolean };

/** The instruction before must be `signer`'s signature over `message`. */
export function demandSignature(proof: Proof, signer: string, message: Uint8Array): void {
  demand(proof !== 'nothing', 'SignatureMissing');
  demand(proof !== 'other program', 'SignatureWrongProgram');
  demand(proof.message.length === message.length, 'SignatureLength');
  demand(proof.by.publicKey.toBase58() === signer, 'SignatureWrongKey');
  demand(Buffer.from(proof.message).equals(message), 'SignatureWrongMessage');
}

/** The message by which a signing key is shown to be the creator's. */
export const possession = program.registerMessage;
/** The message by which a result is. */
export const result = resultMessage;

/** A signature that does not verify fails before the program is asked. */
export function demandSound(proof: Proof): void {
  demand(typeof proof === 'string' || !proof.broken, 'ed25519:InvalidSignature');
}
