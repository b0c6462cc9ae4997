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

export function hex(bytes: Uint8Array): string {
  // A view of the bytes and not a copy, which costs several times as much.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** The program has no optional fields: all zero means none. */
export function optionalHex(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : hex(bytes);
}

/** A time that is 0 before there is one. */
export function optionalTime(seconds: bigint): bigint | null {
  return seconds === 0n ? null : seconds;
}

export function flag(value: boolean): Flag {
  return value ? 1n : 0n;
}
