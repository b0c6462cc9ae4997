/**
 * API keys: `crtx_test_` or `crtx_live_`, an id of eight characters, `_`, 256 random bits in 43 base62 characters, and
 * a CRC-32 in 6 more. The id lets the owner recognise the key. The checksum reveals a mistyped key without a look-up. A
 * key is made where it is used. The marketplace learns its SHA-256, and sees the whole key only when it is presented.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';

export type Environment = 'live' | 'test';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^crtx_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** `crtx_live_` or `crtx_test_`. */
export function keyPrefix(environment: Environment): string {
  return `crtx_${environment}_`;
}

/** A new random key of this environment. Anyone who has it can spend within its grant. */
export function createApiKey(environment: Environment): string {
  // Uses more bits than eight characters hold, so that all characters are equally likely.
  const id = toBase62(randomNumber(SECRET_BYTES) % 62n ** 8n, 8);
  const secret = toBase62(randomNumber(SECRET_BYTES), SECRET_LENGTH);
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
  return bytesToHex(sha256(utf8ToBytes(key)));
}

/** The 16 bytes that name the key's grant on-chain: the first half of SHA-256 of the whole key. */
export function keyIdOf(key: string): Uint8Array {
  return hexToBytes(keyIdOfHash(hashApiKey(key)));
}

/** The same as 32 hex digits, from the key's hash. */
export function keyIdOfHash(keyHash: string): string {
  return keyHash.slice(0, 32);
}

function checksumOf(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** CRC-32 of ASCII text, as in zlib and Ethernet. */
function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let at = 0; at < ascii.length; at += 1) {
    crc ^= ascii.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function randomNumber(bytes: number): bigint {
  return BigInt(`0x${bytesToHex(randomBytes(bytes))}`);
}

/** Big-endian, padded with zeros to `length` digits. */
function toBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
