/**
 * The costly half of receipts by node:crypto, for servers: creators hash and sign with it, the relay hashes and verifies
 * with it on every paid call. What is hashed and signed, and which signatures the chain may accept, is said in
 * receipt/receipt.ts alone; hashing runs about eight times as fast here, verifying about fourteen times.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  admissibleSignature,
  canonicalRequest,
  formatResultHash,
  formatSignature,
  isResultHash,
  parseResultHash,
} from '../receipt/receipt.ts';

/** As `hashResult` of receipt.ts. */
export function hashResult(result: string): string {
  return formatResultHash(sha256(result));
}

/** As `requestHash` of receipt.ts. */
export function requestHash(task: string, parameters: object = {}): Uint8Array {
  return new Uint8Array(sha256(canonicalRequest(task, parameters)));
}

/** As `signResult` of receipt.ts. */
export function signResult(secretKey: Uint8Array, resultHash: string): string {
  parseResultHash(resultHash);
  return signMessage(secretKey, resultHash);
}

/** As `signMessage` of receipt.ts. */
export function signMessage(secretKey: Uint8Array, message: string): string {
  if (secretKey.length !== 64) throw new RangeError(`a secret key must be 64 bytes, not ${secretKey.length}`);
  const der = Buffer.concat([PKCS8_ED25519, secretKey.subarray(0, 32)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return formatSignature(sign(null, Buffer.from(message, 'utf8'), key));
}

/** As `verifyResultSignature` of receipt.ts. */
export function verifyResultSignature(publicKey: Uint8Array, resultHash: string, signature: string): boolean {
  return isResultHash(resultHash) && verifyMessage(publicKey, resultHash, signature);
}

/** As `verifyMessage` of receipt.ts. */
export function verifyMessage(publicKey: Uint8Array, message: string | Uint8Array, signature: string): boolean {
  const bytes = admissibleSignature(publicKey, signature);
  if (!bytes) return false;
  const signed = typeof message === 'string' ? Buffer.from(message, 'utf8') : message;
  return verify(null, signed, keyObjects.memo(Buffer.from(publicKey).toString('latin1')), bytes);
}

/** Reading a key takes OpenSSL as long as verifying by it, and an agent's results all come with one. */
const keyObjects = new LRUCache<string, KeyObject>({
  max: 1_000,
  memoMethod: (latin1) =>
    createPublicKey({ key: Buffer.concat([SPKI_ED25519, Buffer.from(latin1, 'latin1')]), format: 'der', type: 'spki' }),
});

/** DER headers that turn raw Ed25519 keys into what node:crypto reads (RFC 8410). */
const SPKI_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
