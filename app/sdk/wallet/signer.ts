/**
 * The wallet as this library sees it: an address, and somebody who signs. A keypair, a browser's wallet and a custody
 * service can each be one; nothing here asks for a secret key of a wallet.
 */
import type { Keypair, PublicKey, Transaction, VersionedTransaction } from '@solana/web3.js';
import nacl from 'tweetnacl';

/**
 * Who signs for a wallet. Both methods may take as long as a person needs, and throw where the signature is refused;
 * then nothing is sent. A wallet of the Wallet Standard takes and returns bytes: give it `transaction.serialize(
 * {requireAllSignatures: false})` and return `Transaction.from(signed)`. A transaction must be sent within about a
 * minute after it was made, so a signer that waits longer sees it expire.
 */
export interface Signer {
  readonly publicKey: PublicKey;
  /** The transaction with this wallet's signature in its place. Signatures of others that it carries stay. */
  signTransaction<T extends Transaction | VersionedTransaction>(transaction: T): Promise<T>;
  /** The wallet's Ed25519 signature over exactly these bytes: 64 bytes. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
}

/** A signer that holds the keypair itself: for servers, scripts and command lines. */
export function keypairSigner(keypair: Keypair): Signer {
  return {
    publicKey: keypair.publicKey,
    async signTransaction(transaction) {
      if ('version' in transaction) transaction.sign([keypair]);
      else transaction.partialSign(keypair);
      return transaction;
    },
    signMessage: async (message) => nacl.sign.detached(message, keypair.secretKey),
  };
}
