/**
 * A wallet for this library: an address and a signer. It can be a keypair, a browser's wallet or a custody service.
 * Nothing here needs a wallet's secret key.
 */
import type { Keypair, PublicKey, Transaction, VersionedTransaction } from '@solana/web3.js';
import nacl from 'tweetnacl';

/**
 * Signs for a wallet. Both methods may wait for a person. They throw if the signature is refused, and then nothing is
 * sent. A wallet of the Wallet Standard takes and returns bytes: give it `transaction.serialize({requireAllSignatures:
 * false})` and return `Transaction.from(signed)`. A transaction is valid for 30 s. If the signer takes longer, it is
 * asked once more, with a new transaction.
 */
export interface Signer {
  readonly publicKey: PublicKey;
  /** Returns the transaction with this wallet's signature. It keeps other signatures. */
  signTransaction<T extends Transaction | VersionedTransaction>(transaction: T): Promise<T>;
  /** The wallet's Ed25519 signature over exactly these bytes: 64 bytes. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
  /** Called before `signTransaction` is called once more. `reason` is a sentence that says why the first one expired. */
  onExpired?(reason: string): void;
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
