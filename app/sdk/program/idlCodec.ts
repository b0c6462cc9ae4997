/** The codecs of the IDL with web3.js addresses. */
import { createIdlCodecs } from './idlCodecs.ts';
import { pubkey } from './pubkey.ts';

export { discriminatorOf } from './idlCodecs.ts';
export const { codecOf, codecOfType, decodeAccountData, decodeFields, decodeInstruction, encodeInstruction } =
  createIdlCodecs(pubkey);
