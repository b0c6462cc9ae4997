/** Reading keypair files, in the form that solana-keygen writes. */
import { Keypair } from '@solana/web3.js';
import { loadSigningKey } from '../sdk/signingKey.ts';
import { Refusal } from './refusal.ts';

/** The keypair in this file. `what` names it in the refusal: "the wallet's keypair". */
export function readKeypair(path: string, what: string): Keypair {
  try {
    return Keypair.fromSecretKey(loadSigningKey(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? `${path} does not exist` : message;
    throw new Refusal(`Cannot read ${what}: ${reason}. \`solana-keygen new\` makes such a file.`);
  }
}
