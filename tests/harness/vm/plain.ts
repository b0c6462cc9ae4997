/** Values in a form that compares and prints well: addresses as base58, bytes as hex, so that a whole account is one literal. */
import { PublicKey } from '@solana/web3.js';

/** `value` with every address as base58 text and every byte array as hex text; all else as it is. */
export function plain(value: unknown): unknown {
  if (value instanceof PublicKey) return value.toBase58();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
