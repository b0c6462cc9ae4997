/**
 * The file of a creator's signing key, in the form of solana-keygen: a JSON array of 64 bytes, seed then public key.
 */
import nacl from 'tweetnacl';
import { parseJsonFile } from '../wire/jsonFile.ts';

const LENGTH = 64;

/** The file's text. Throws if the key's halves do not match. */
export function encodeSigningKey(signingKey: Uint8Array): string {
  requireSigningKey(signingKey, 'this key');
  return `${JSON.stringify([...signingKey])}\n`;
}

/** The key in a file. Throws, naming the file, if it is not an array of 64 bytes or its halves do not match. */
export function parseSigningKey(content: string | Uint8Array, file: string): Uint8Array {
  let value: unknown;
  try {
    value = parseJsonFile(content);
  } catch {
    value = null;
  }
  const isByte = (byte: unknown): boolean => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255;
  if (!Array.isArray(value) || value.length !== LENGTH || !value.every(isByte)) {
    throw new Error(`${file} is not a key file: it must be a JSON array of ${LENGTH} bytes`);
  }
  const signingKey = Uint8Array.from(value);
  requireSigningKey(signingKey, file);
  return signingKey;
}

/** Signing with another key's public half would reveal the secret half, so halves that do not match are refused. */
function requireSigningKey(signingKey: Uint8Array, what: string): void {
  if (signingKey.length !== LENGTH) throw new Error(`${what} must be ${LENGTH} bytes, not ${signingKey.length}`);
  const { publicKey } = nacl.sign.keyPair.fromSeed(signingKey.subarray(0, 32));
  if (!publicKey.every((byte, index) => byte === signingKey[32 + index])) {
    throw new Error(`${what} is damaged: its public half does not belong to its secret half`);
  }
}
