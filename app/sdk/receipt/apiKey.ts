/**
 * API keys: `crtx_test_` or `crtx_live_`, eight characters by which its owner recognises it, `_`, 256 random bits in 43
 * base62 characters and a CRC-32 in 6 more, so that a mistyped key is known without a look-up. A key is made where it
 * is used; the marketplace learns its SHA-256, and the whole key only when it is presented.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type Environment = 'live' | 'test';

/** What an API key may be used for: `execute` spends and starts executions, `read` reads them. */
export const KEY_SCOPES = ['execute', 'read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^crtx_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** `crtx_live_` or `crtx_test_`. */
export function keyPrefix(environment: Environment): string {
  return `crtx_${environment}_`;
}

/** A new random key of this environment. Whoever holds it can spend within its grant. */
export function createApiKey(environment: Environment): string {
  const id = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const secret = toBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
  const body = `${keyPrefix(environment)}${id}_${secret}`;
  return body + checksumOf(body);
}

/** The parts of a key that may be shown; null unless form and checksum are right. */
export function parseApiKey(key: string): { environment: Environment; id: string } | null {
  const [, environment, id = '', checksum] = KEY.exec(key) ?? [];
  if (checksum === undefined || checksumOf(key.slice(0, -CHECKSUM_LENGTH)) !== checksum) return null;
  return { environment: environment === 'live' ? 'live' : 'test', id };
}

/** SHA-256 of the whole key, lower-case hex: all that the marketplace stores. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** The 16 bytes that name the key's grant on-chain: the head of SHA-256 of the whole key. */
export function keyIdOf(key: string): Uint8Array {
  return new Uint8Array(Buffer.from(keyIdOfHash(hashApiKey(key)), 'hex'));
}

/** The same, 32 hex digits, from the key's hash. */
export function keyIdOfHash(keyHash: string): string {
  return keyHash.slice(0, 32);
}

function checksumOf(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** Big-endian, padded with zeros to `length` digits. */
function toBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
