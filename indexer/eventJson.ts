/**
 * Converts an event to the JSON of the table `events`: keys in base58, bytes in hex, 64-bit integers as decimal text.
 */
import { PublicKey } from '@solana/web3.js';
import type { MarketplaceEvent } from '../app/sdk/program/eventFields.ts';
import { hex } from './columns.ts';

/** The fields in the order of the program's struct, in which they are decoded. */
export function eventJson({ data }: MarketplaceEvent): string {
  return JSON.stringify(data, plain);
}

/** Reads the value itself: keys and Buffers have a `toJSON`, which runs before this. */
function plain(this: Record<string, unknown>, key: string): unknown {
  const value = this[key];
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof PublicKey) return value.toBase58();
  return value instanceof Uint8Array ? hex(value) : value;
}
