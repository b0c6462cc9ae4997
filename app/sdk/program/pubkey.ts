import { PublicKey } from '@solana/web3.js';
import type { Codec } from './borsh.ts';

/** An address that caches its text: making the text costs more than reading all other fields of an event. */
export class KeptAddress extends PublicKey {
  #text: string | undefined;

  override toBase58(): string {
    this.#text ??= super.toBase58();
    return this.#text;
  }
}

/** The codec of a web3.js address. */
export const pubkey: Codec<PublicKey> = {
  read: (from) => new KeptAddress(from.take(32)),
  write: (value) => value.toBytes(),
};
