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

/** Some 4 MB each. */
const MAX_KNOWN = 10_000;

/** Addresses recur: those of the latest readings by their bytes, and those of the readings before. */
let known = new Map<string, PublicKey>();
let knownBefore = new Map<string, PublicKey>();

function keyOf(bytes: Uint8Array): PublicKey {
  const id = String.fromCharCode(...bytes);
  let key = known.get(id);
  if (key) return key;
  key = knownBefore.get(id) ?? new ReadKey(bytes);
  if (known.size >= MAX_KNOWN) {
    knownBefore = known;
    known = new Map();
  }
  known.set(id, key);
  return key;
}

/** An address as web3.js has it; the same one for the same bytes, which nobody may change. */
export const pubkey: Codec<PublicKey> = {
  type: 'pubkey',
  read: (from) => keyOf(from.take(32)),
  write: (value) => value.toBytes(),
};
