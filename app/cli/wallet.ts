/** Keypair files of wallets and of signing keys, in the format of solana-keygen. */
import { dirname } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { generateSigningKey, loadSigningKey, saveSigningKey, signingKeyAddress } from '../sdk/creator/signingKey.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';

/** Advice for a missing file. */
const MAKE_ONE = 'To create one, run `npm run cli -- keys new FILE`.';

/** The keypair in this file. `what` names it in the refusal: "the wallet's keypair". */
export function readKeypair(path: string, what: string): Keypair {
  // `loadSigningKey` has compared its halves.
  return Keypair.fromSecretKey(readSecretKey(path, what), { skipValidation: true });
}

/** The 64 bytes in this file. */
export function readSecretKey(path: string, what: string): Uint8Array {
  try {
    return loadSigningKey(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? `${path} does not exist` : message;
    throw new Refusal(`Cannot read ${what}: ${reason}. ${MAKE_ONE}`);
  }
}

/** Creates a key in a new file that only its owner can read. Refuses to replace an existing file. */
export function createKeyFile(path: string): { file: string; address: string } {
  const key = generateSigningKey();
  try {
    saveSigningKey(path, key);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new Refusal(
        `${path} already exists. Choose another path: overwriting a key file would lose its key permanently.`,
      );
    if (code === 'ENOENT') throw new Refusal(`The folder ${dirname(path)} does not exist.`);
    throw new Refusal(`${path} cannot be written: ${message}`);
  }
  return { file: path, address: signingKeyAddress(key) };
}
