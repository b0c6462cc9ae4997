/** The codecs of the IDL with addresses as web3.js has them. */
import { createIdlCodecs } from './idlCodecs.ts';
import { pubkey } from './pubkey.ts';

export { discriminatorOf } from './idlCodecs.ts';
export const { codecOf, decodeAccountData, encodeInstruction, decodeInstruction } = createIdlCodecs(pubkey);
