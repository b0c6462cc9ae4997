/** The hashes that a deposit's address commits to, without web3.js. Addresses are 32 bytes. */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { bytesOf, u32, u64 } from './borsh.ts';
import { constantBytes } from './constants.ts';

const bytes32 = bytesOf(32);
const bytes16 = bytesOf(16);

/** SHA-256 of the terms of a call. Throws RangeError if a field does not fit its type. */
export function hashTerms(terms: {
  listing: Uint8Array;
  listingVersion: number;
  requestHash: Uint8Array;
  timeoutSeconds: number;
  nonce: Uint8Array;
}): Uint8Array {
  return sha256(
    concatBytes(
      constantBytes('DEPOSIT_TERMS_DOMAIN'),
      bytes32.write(terms.listing),
      u32.write(terms.listingVersion),
      bytes32.write(terms.requestHash),
      u32.write(terms.timeoutSeconds),
      bytes16.write(terms.nonce),
    ),
  );
}

/** The seed of a deposit's address. `payer` is the wallet that the quote names, or null. */
export function hashQuote(quote: {
  termsHash: Uint8Array;
  payer: Uint8Array | null;
  price: bigint;
  serviceFee: bigint;
}): Uint8Array {
  return sha256(
    concatBytes(
      constantBytes('DEPOSIT_DOMAIN'),
      bytes32.write(quote.termsHash),
      bytes32.write(quote.payer ?? new Uint8Array(32)),
      u64.write(quote.price),
      u64.write(quote.serviceFee),
    ),
  );
}
