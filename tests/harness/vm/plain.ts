/** Converts values to a form that is easy to compare and print, so that a whole account is one literal. */
import { PublicKey } from '@solana/web3.js';

/** Replaces every address by base58 text and every byte array by hex text. */
export function plain(value: unknown): unknown {
  if (value instanceof PublicKey) return value.toBase58();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
