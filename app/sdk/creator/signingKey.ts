/**
 * A creator's signing key on disk. It signs results and nothing else, belongs to one listing for ever, and is not the
 * creator's wallet. The file has the form of solana-keygen: a JSON array of 64 bytes, seed then public key.
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

/** The keys that a server holds, newest first. Throws TypeError where it holds none. */
export function signingKeysOf(signingKey: Uint8Array | readonly Uint8Array[]): [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = signingKey instanceof Uint8Array ? [signingKey] : signingKey;
  if (!newest) throw new TypeError('signingKey must hold at least one key');
  return [newest, ...older];
}

/** The key of that name, base58; the newest where none is named. */
export function heldKey(keys: [Uint8Array, ...Uint8Array[]], named: string | null): Uint8Array | undefined {
  return named === null ? keys[0] : keys.find((key) => signingKeyAddress(key) === named);
}

/**
 * Writes the key readable by its owner only (mode 0600). The file appears whole or not at all, and an existing file is
 * never replaced: that throws EEXIST, because a key once listed cannot be made again.
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

/** Reads a key file. Throws, naming the file, when it is no array of 64 bytes or its two halves do not belong together. */
export function loadSigningKey(path: string): Uint8Array {
  return parseSigningKey(readFileSync(path, 'utf8'), path);
}
