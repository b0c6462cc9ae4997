import { PublicKey } from '@solana/web3.js';

/** An address that is asked for its text again and again, which a plain one makes anew each time. */
export class KeptAddress extends PublicKey {
  #text: string | undefined;

  override toBase58(): string {
    this.#text ??= super.toBase58();
    return this.#text;
  }
}
