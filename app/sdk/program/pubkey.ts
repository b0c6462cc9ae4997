import { PublicKey } from '@solana/web3.js';
import type { Codec } from './borsh.ts';

/** An address as web3.js has it. */
export const pubkey: Codec<PublicKey> = {
  type: 'pubkey',
  read: (from) => new PublicKey(from.take(32)),
  write: (value) => value.toBytes(),
};
