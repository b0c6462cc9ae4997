/** Converts values of the chain to column values. migrations/index documents the formats. */
import { PublicKey } from '@solana/web3.js';
import type { Flag } from '../queries/tables.ts';

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

/**
 * Replaces U+0000, which PostgreSQL's text cannot hold. A valid URI has none, but anyone can write one on the chain.
 */
export function uri(value: string): string {
  return value.replaceAll('\0', '\uFFFD');
}

/** Most values are ids and hashes, at most 64 bytes. */
const copied = Buffer.alloc(64);

export function hex(bytes: Uint8Array): string {
  // Copying into one buffer is several times cheaper than making a Buffer view for so few bytes.
  if (bytes.length > copied.length) return Buffer.from(bytes).toString('hex');
  copied.set(bytes);
  return copied.toString('hex', 0, bytes.length);
}

/** The program has no optional fields; all zero means none. */
export function optionalHex(bytes: Uint8Array): string | null {
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] !== 0) return hex(bytes);
  return null;
}

/** The program stores 0 for a time that is not set. */
export function optionalTime(seconds: bigint): bigint | null {
  return seconds === 0n ? null : seconds;
}

export function flag(value: boolean): Flag {
  return value ? 1n : 0n;
}
