/**
 * Program addresses, found several times as fast as by web3.js: a paid call needs two that nobody has needed before, and
 * each takes two trials on average. Same seeds, same address; only the arithmetic is WebAssembly's and OpenSSL's.
 */
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import sodium from 'libsodium-wrappers-sumo';

const MARKER = Buffer.from('ProgramDerivedAddress');
/** The neutral element, to which any point can be added and nothing else. */
const IDENTITY = Uint8Array.of(1, ...new Uint8Array(31));

await sodium.ready;

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    sodium.crypto_core_ed25519_add(bytes, IDENTITY);
    return true;
  } catch {
    return false;
  }
}

/** As `PublicKey.findProgramAddressSync`, for seeds that are within the chain's limits. */
export function findProgramAddress(seeds: readonly Uint8Array[], programId: PublicKey): [PublicKey, number] {
  const joined = Buffer.concat(seeds);
  const rest = Buffer.concat([programId.toBytes(), MARKER]);
  for (let bump = 255; bump >= 0; bump -= 1) {
    const address = createHash('sha256').update(joined).update(Uint8Array.of(bump)).update(rest).digest();
    if (!isOnCurve(address)) return [new PublicKey(address), bump];
  }
  throw new RangeError('no bump of these seeds gives an address');
}
