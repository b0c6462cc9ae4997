/**
 * A creator's signing key on disk. It signs only results, belongs to one listing permanently, and is not the creator's
 * wallet. The file has the form of solana-keygen: a JSON array of 64 bytes, seed then public key.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { encodeSigningKey, parseSigningKey } from '../receipt/signingKeyFile.ts';

/** A new random key: 64 bytes, seed then public key. */
export function generateSigningKey(): Uint8Array {
  return nacl.sign.keyPair().secretKey;
}

/** The public half as base58: the `signing_key` of a listing. */
export function signingKeyAddress(signingKey: Uint8Array): string {
  return bs58.encode(signingKey.subarray(32));
}

/** A server's keys, newest first. Throws TypeError if there are none. */
export function signingKeysOf(signingKey: Uint8Array | readonly Uint8Array[]): [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = signingKey instanceof Uint8Array ? [signingKey] : signingKey;
  if (!newest) throw new TypeError('signingKey must hold at least one key');
  return [newest, ...older];
}

/** The key with this base58 address; the newest if `named` is null. */
export function heldKey(keys: [Uint8Array, ...Uint8Array[]], named: string | null): Uint8Array | undefined {
  return named === null ? keys[0] : keys.find((key) => signingKeyAddress(key) === named);
}

/**
 * Writes the key, readable by its owner only (mode 0600). The file appears complete or not at all. An existing file is
 * never replaced but throws EEXIST, because a listed key cannot be created again.
 */
export function saveSigningKey(path: string, signingKey: Uint8Array): void {
  const text = encodeSigningKey(signingKey);
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
    linkSync(draft, path);
  } finally {
    closeSync(file);
    unlinkSync(draft);
  }
}

/** A secret key in the place of a path: a JSON array, or 32 or 64 bytes as text. */
const KEY_ITSELF = /^(\[[\d\s,]*\]?|[0-9A-Za-z+=]{64,})\s*$/;

/**
 * Reads a key file. Throws, naming the file, if it is not an array of 64 bytes or its two halves do not match. Throws
 * without the path if that is a key itself.
 */
export function loadSigningKey(path: string): Uint8Array {
  if (KEY_ITSELF.test(path.slice(path.lastIndexOf('/') + 1))) {
    throw new Error('the path of a key file is needed, not the key itself');
  }
  return parseSigningKey(readFileSync(path), path);
}
