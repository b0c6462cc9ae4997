import { toBase58 } from '@exodus/bytes/base58.js';
import { PublicKey } from '@solana/web3.js';
import type { ByteReader, Codec } from './borsh.ts';

/** An address that remembers its text, which costs more to make than all else that is read of an event. */
class ReadKey extends PublicKey {
  readonly #bytes: Uint8Array;
  #text: string | undefined;

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.#bytes = bytes;
  }

  override toBase58(): string {
    // web3.js keeps a number, from which it would make the bytes again.
    this.#text ??= toBase58(this.#bytes);
    return this.#text;
  }
}

/** Some 8 MB when all are taken; a power of two. */
const PLACES = 16_384;

/**
 * Addresses recur, and to make one costs more than all else of an event. Each has one place here, by its first bytes, and the
 * last one read keeps it: whoever chooses addresses that share a place gains nothing but that they are made again.
 */
const known: ({ bytes: DataView; key: PublicKey } | undefined)[] = new Array(PLACES).fill(undefined);

function readKey(from: ByteReader): PublicKey {
  const place = from.peek() & (PLACES - 1);
  const there = known[place];
  if (there && from.skip(there.bytes)) return there.key;
  const bytes = from.take(32);
  const key = new ReadKey(bytes);
  known[place] = { bytes: new DataView(bytes.buffer), key };
  return key;
}

/** An address as web3.js has it; the same one for the same bytes, which nobody may change. */
export const pubkey: Codec<PublicKey> = {
  type: 'pubkey',
  read: readKey,
  write: (value) => value.toBytes(),
};
