/**
 * SHA-256 and the Ed25519 equation, the expensive part of receipts. Both exist in JavaScript, for browsers. Node's own
 * implementation takes a tenth of the time and is used if present, because a relay verifies two signatures per paid
 * call.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 as portableSha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';

// An import would break this module in browsers.
const node = globalThis.process?.getBuiltinModule?.('crypto');

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
  const encodedR = signature.subarray(0, 32);
  try {
    const h = Point.Fn.create(fromLittleEndian(sha512(concatBytes(encodedR, publicKey, message))));
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
