import { PublicKey } from '@solana/web3.js';
import { Buffer } from 'buffer';
import type { Codec } from './borsh.ts';

/** An address that caches its text: making the text costs more than reading all other fields of an event. */
export class KeptAddress extends PublicKey {
  #text: string | undefined;

  override toBase58(): string {
    this.#text ??= super.toBase58();
    return this.#text;
  }
}

/** Addresses by their bytes, because most of them are in many events and accounts. Cleared when full. */
const known = new Map<string, KeptAddress>();
const MAX_KNOWN = 10_000;

function addressOf(bytes: Uint8Array<ArrayBuffer>): PublicKey {
  const id = Buffer.from(bytes.buffer).toString('latin1');
  let address = known.get(id);
  if (!address) {
    if (known.size >= MAX_KNOWN) known.clear();
    address = new KeptAddress(bytes);
    known.set(id, address);
  }
  return address;
}

/** The codec of a web3.js address. */
export const pubkey: Codec<PublicKey> = {
  read: (from) => addressOf(from.take(32)),
  write: (value) => value.toBytes(),
};
