/**
 * SHA-256 and the Ed25519 equation, the expensive part of receipts. Both exist in JavaScript, for browsers. Node's own
 * implementation takes a tenth of the time and is used if present, because a relay verifies two signatures per paid
 * call.
 */
import * as ed25519 from '@noble/ed25519';
import { sha256 as portableSha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';

// The library has no hash of its own.
ed25519.hashes.sha512 = sha512;

// An import would break this module in browsers.
const node = globalThis.process?.getBuiltinModule?.('crypto');

/** The 64 bytes of the Ed25519 signature over `message` by the key of this 32-byte seed. */
export function signBytes(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return ed25519.sign(message, seed);
}

/** SHA-256 of these bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return node ? new Uint8Array(node.createHash('sha256').update(bytes).digest()) : portableSha256(bytes);
}

/**
 * True if R is the encoding of S B - h A, without the cofactor, as the chain requires. `admissibleSignature` of
 * receipt.ts checks the chain's other rules.
 */
export function satisfiesEquation(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return node ? satisfiesByNode(node, publicKey, message, signature) : satisfiesAnywhere(publicKey, message, signature);
}

/** DER header that makes a raw Ed25519 key readable by node:crypto (RFC 8410). */
const SPKI_ED25519 = hexToBytes('302a300506032b6570032100');

function satisfiesByNode(
  { createPublicKey, verify }: NonNullable<typeof node>,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const der = concatBytes(SPKI_ED25519, publicKey) as Buffer;
  return verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
}

/**
 * The same in JavaScript. The library's own `verify` multiplies by the cofactor. It therefore accepts signatures of
 * keys with a small-order component, which the chain refuses.
 */
export function satisfiesAnywhere(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const { Point } = ed25519;
  const { n } = Point.CURVE();
  const encodedR = signature.subarray(0, 32);
  try {
    const h = fromLittleEndian(sha512(concatBytes(encodedR, publicKey, message))) % n;
    const hA = Point.fromBytes(publicKey).multiplyUnsafe(h);
    const expected = Point.BASE.multiplyUnsafe(fromLittleEndian(signature.subarray(32))).subtract(hA);
    return bytesToHex(expected.toBytes()) === bytesToHex(encodedR);
  } catch {
    // The key is not a point of the curve.
    return false;
  }
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
}
