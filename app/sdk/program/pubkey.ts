import { PublicKey } from '@solana/web3.js';
import type { Codec } from './borsh.ts';

/** An address that remembers its text, which costs more to make than all else that is read of an event. */
class ReadKey extends PublicKey {
  #text: string | undefined;

  override toBase58(): string {
    this.#text ??= super.toBase58();
    return this.#text;
  }
}

/** Some 8 MB when all are taken; a power of two. */
const PLACES = 16_384;

/**
 * Addresses recur, and to make one costs more than all else of an event. Each has one place here, by its first bytes, and the
 * last one read keeps it: whoever chooses addresses that share a place gains nothing but that they are made again.
 */
const known: ({ bytes: Uint8Array; key: PublicKey } | undefined)[] = new Array(PLACES).fill(undefined);

function keyOf(bytes: Uint8Array): PublicKey {
  const place = (bytes[0]! | (bytes[1]! << 8)) & (PLACES - 1);
  const there = known[place];
  if (there && isSame(there.bytes, bytes)) return there.key;
  const key = new ReadKey(bytes);
  known[place] = { bytes, key };
  return key;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  for (let at = 0; at < 32; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/** An address as web3.js has it; the same one for the same bytes, which nobody may change. */
export const pubkey: Codec<PublicKey> = {
  type: 'pubkey',
  read: (from) => keyOf(from.take(32)),
  write: (value) => value.toBytes(),
};
