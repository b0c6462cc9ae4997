/** Values of the chain as columns hold them; what they look like is said in migrations/index. */
import { PublicKey } from '@solana/web3.js';
import type { Flag } from './tables.ts';

export function base58(key: PublicKey): string {
  return key.toBase58();
}

/** A JSON array. */
export function base58List(keys: PublicKey[]): string {
  return JSON.stringify(keys.map(base58));
}

/** The zero key means nobody. */
export function optionalBase58(key: PublicKey): string | null {
  return key.equals(PublicKey.default) ? null : base58(key);
}

/** Without U+0000, which PostgreSQL's text cannot hold and no address has: a stranger may put it there. */
export function uri(value: string): string {
  return value.replaceAll('\0', '\uFFFD');
}

/** Nearly all are ids and hashes. */
const copied = Buffer.alloc(64);

export function hex(bytes: Uint8Array): string {
  // A view of so few bytes costs several times the copy: their buffer is made for it, and collected after it.
  if (bytes.length > copied.length) return Buffer.from(bytes).toString('hex');
  copied.set(bytes);
  return copied.toString('hex', 0, bytes.length);
}

/** The program has no optional fields: all zero means none. */
export function optionalHex(bytes: Uint8Array): string | null {
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] !== 0) return hex(bytes);
  return null;
}

/** A time that is 0 before there is one. */
export function optionalTime(seconds: bigint): bigint | null {
  return seconds === 0n ? null : seconds;
}

export function flag(value: boolean): Flag {
  return value ? 1n : 0n;
}
