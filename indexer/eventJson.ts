/** An event as the table `events` keeps it: JSON with keys in base58, bytes in hex and 64-bit integers as decimal text. */
import { PublicKey } from '@solana/web3.js';
import type { MarketplaceEvent } from '../app/sdk/program/eventFields.ts';
import { hex } from './columns.ts';

export function eventJson(event: MarketplaceEvent): string {
  return json(event.data);
}

/** Put together by hand, which takes a third of what JSON.stringify takes of a copy. */
function json(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`;
  if (value instanceof PublicKey) return `"${value.toBase58()}"`;
  if (value instanceof Uint8Array) return `"${hex(value)}"`;
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let fields = '';
  for (const key in value) fields += `${fields && ','}"${key}":${json((value as Record<string, unknown>)[key])}`;
  return `{${fields}}`;
}
