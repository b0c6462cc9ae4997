/** Deterministic keypairs, and fast signing with OpenSSL. */
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import {
  Keypair,
  PACKET_DATA_SIZE,
  SIGNATURE_LENGTH_IN_BYTES,
  type VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';

const named = new Map<string, Keypair>();

/** A keypair derived from a name, so that bumps and compute units are the same in every run. */
export function namedKeypair(name: string): Keypair {
  const kept =
    named.get(name) ?? Keypair.fromSeed(createHash('sha256').update(`agent-marketplace test ${name}`).digest());
  named.set(name, kept);
  return kept;
}

const privateKeys = new WeakMap<Keypair, KeyObject>();
/** Prefix of an Ed25519 seed in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Key for OpenSSL. web3.js and tweetnacl sign a hundred times slower, which took most of a test run. */
function privateKeyOf(keypair: Keypair): KeyObject {
  const kept = privateKeys.get(keypair);
  if (kept) return kept;
  const der = Buffer.concat([PKCS8, keypair.secretKey.subarray(0, 32)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  privateKeys.set(keypair, key);
  return key;
}

/** Signs with Ed25519. */
export function signBytes(message: Uint8Array, signer: Keypair): Uint8Array {
  return new Uint8Array(sign(null, message, privateKeyOf(signer)));
}

/** Throws if a signature is missing or the transaction is too long for a packet. The VM verifies the signatures. */
export function signAll(message: VersionedMessage, signers: Keypair[]): VersionedTransaction {
  const bytes = message.serialize();
  const transaction = new VersionedTransaction(message);
  for (const signer of signers) transaction.addSignature(signer.publicKey, signBytes(bytes, signer));
  const missing = transaction.signatures.findIndex((signature) => signature.every((byte) => byte === 0));
  if (missing >= 0) throw new Error(`the signature of ${message.staticAccountKeys[missing]!.toBase58()} is missing`);
  const length = 1 + transaction.signatures.length * SIGNATURE_LENGTH_IN_BYTES + bytes.length;
  if (length > PACKET_DATA_SIZE)
    throw new RangeError(`the transaction has ${length} bytes, more than ${PACKET_DATA_SIZE}`);
  return transaction;
}
