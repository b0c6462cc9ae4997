/**
 * Signatures for signature.test.ts: valid ones, and all known kinds that some verifiers accept and others reject. A
 * seed makes every run the same. Their construction determines whether strict verification accepts them.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { Signed } from '../harness/vm/verifier.ts';

/** A signature with its expected verdict. */
export interface Case extends Signed {
  kind: string;
  isGood: boolean;
}

const { Point } = ed25519;
type Point = InstanceType<typeof Point>;

/** Order of the group, and prime of the field. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const P = 2n ** 255n - 19n;
/** The eight points of small order, as multiples of a generator. */
const GENERATOR = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
const TORSION = Array.from({ length: 8 }, (_, index) => GENERATOR.multiplyUnsafe(BigInt(index)));

const number = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const encoded = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts));
const SIGN = 2n ** 255n;

/** Every encoding of a small-order point that a lenient decoder accepts: eight canonical and six non-canonical. */
const SMALL: { encoding: Uint8Array; point: Point }[] = [
  ...TORSION.map((point) => ({ encoding: point.toBytes(), point })),
  ...[1n + SIGN, P + 1n, P + 1n + SIGN].map((value) => ({ encoding: encoded(value), point: TORSION[0]! })),
  { encoding: encoded(P - 1n + SIGN), point: TORSION[4]! },
  { encoding: encoded(P), point: Point.fromBytes(encoded(0n)) },
  { encoding: encoded(P + SIGN), point: Point.fromBytes(encoded(SIGN)) },
];

/** Random bytes from a seed: SHA-512 of seed and block counter. */
class Random {
  private rest = Buffer.alloc(0);
  private blocks = 0;

  constructor(private readonly seed: string) {}

  bytes(length: number): Uint8Array {
    while (this.rest.length < length) {
      const block = createHash('sha512').update(`${this.seed} ${this.blocks}`).digest();
      this.rest = Buffer.concat([this.rest, block]);
      this.blocks += 1;
    }
    const taken = Uint8Array.from(this.rest.subarray(0, length));
    this.rest = this.rest.subarray(length);
    return taken;
  }

  below(limit: number): number {
    return Number(number(this.bytes(4)) % BigInt(limit));
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }

  /** From 1 to L - 1. */
  scalar(): bigint {
    return (number(this.bytes(40)) % (L - 1n)) + 1n;
  }

  /** A result's text, a proof of possession, or up to 319 bytes, which cover one to three SHA-512 blocks. */
  message(): Uint8Array {
    const form = this.below(10);
    if (form < 6) return Buffer.from(`sha256:${Buffer.from(this.bytes(32)).toString('hex')}`);
    if (form < 8) return joined(Buffer.from('agent-marketplace:register:v1:'), this.bytes(32));
    return this.bytes(this.below(320));
  }
}

/** Prefix of an Ed25519 seed in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SIGNERS = Array.from({ length: 40 }, (_, index) => {
  const der = Buffer.concat([PKCS8, createHash('sha256').update(`signer ${index}`).digest()]);
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
  return { publicKey: Uint8Array.from(publicKey), secret };
});

function honest(random: Random): Signed {
  const { publicKey, secret } = random.of(SIGNERS);
  const message = random.message();
  return { key: publicKey, message, signature: Uint8Array.from(sign(null, message, secret)) };
}

/** SHA-512 of R, key and message, modulo the group order. */
function challenge(R: Uint8Array, key: Uint8Array, message: Uint8Array): bigint {
  return number(createHash('sha512').update(R).update(key).update(message).digest()) % L;
}

function flipped(random: Random, bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[from + random.below(to - from)]! ^= 1 << random.below(8);
  return copy;
}

const head = ({ signature }: Signed) => signature.subarray(0, 32);
const tail = ({ signature }: Signed) => signature.subarray(32);
const withS = (one: Signed, s: bigint): Signed => ({ ...one, signature: joined(head(one), encoded(s)) });

/** Changes of a valid signature that every verifier must reject. */
const CHANGES: Record<string, (random: Random, one: Signed) => Signed> = {
  'a bit of the key': (random, one) => ({ ...one, key: flipped(random, one.key) }),
  'a bit of R': (random, one) => ({ ...one, signature: flipped(random, one.signature, 0, 32) }),
  'a bit of S': (random, one) => ({ ...one, signature: flipped(random, one.signature, 32, 64) }),
  'a bit of the message': (random, one) => ({ ...one, message: flipped(random, joined(one.message, Buffer.of(0))) }),
  'a shorter message': (_, one) => ({ ...one, message: joined(one.message, Buffer.of(0)).subarray(1) }),
  'S plus multiples of L': (random, one) => withS(one, number(tail(one)) + L * BigInt(1 + random.below(14))),
  'S at an edge': (random, one) =>
    withS(one, random.of([0n, 1n, L - 1n, L, L + 1n, 2n ** 252n, 2n ** 253n, SIGN - 1n, SIGN, 2n * SIGN - 1n])),
  'S negated': (_, one) => withS(one, L - number(tail(one))),
  'R negated': (_, one) => ({ ...one, signature: joined(encoded(number(head(one)) ^ SIGN), tail(one)) }),
  'the key negated': (_, one) => ({ ...one, key: encoded(number(one.key) ^ SIGN) }),
  'R and S exchanged': (_, one) => ({ ...one, signature: joined(tail(one), head(one)) }),
  "another's key": (random, one) => ({ ...one, key: Point.BASE.multiply(random.scalar()).toBytes() }),
  'an R above the prime': (random, one) => {
    const R = encoded(P + BigInt(random.below(19)) + (random.below(2) ? SIGN : 0n));
    return { ...one, signature: joined(R, tail(one)) };
  },
  'a key above the prime': (random, one) => {
    return { ...one, key: encoded(P + BigInt(random.below(19)) + (random.below(2) ? SIGN : 0n)) };
  },
  'random bytes for a signature': (random, one) => ({ ...one, signature: random.bytes(64) }),
  'random bytes for all': (random) => ({
    key: random.bytes(32),
    message: random.bytes(71),
    signature: random.bytes(64),
  }),
  'zeros or ones': (random, one) => {
    const fill = (length: number) => new Uint8Array(length).fill(random.of([0, 0xff]));
    return { ...one, signature: joined(fill(32), fill(32)), key: random.of([one.key, fill(32)]) };
  },
};

/** A key of small order for which S B - h A = R holds, although nobody signed the message. */
function keyOfSmallOrder(random: Random): Signed {
  const { encoding: key, point } = random.of(SMALL);
  for (;;) {
    const message = random.message();
    const s = random.scalar();
    const multiple = BigInt(random.below(8));
    const R = Point.BASE.multiply(s).subtract(point.multiplyUnsafe(multiple)).toBytes();
    if (!point.multiplyUnsafe(challenge(R, key, message) % 8n).equals(point.multiplyUnsafe(multiple))) continue;
    return { key, message, signature: joined(R, encoded(s)) };
  }
}

/** An R of small order with the S that satisfies the equation. The signer makes it by using no nonce. */
function nonceOfSmallOrder(random: Random): Signed {
  const secret = random.scalar();
  for (;;) {
    const { encoding: R, point } = random.of(SMALL);
    const torsion = random.of(TORSION);
    const key = Point.BASE.multiply(secret).add(torsion).toBytes();
    const message = random.message();
    const h = challenge(R, key, message);
    if (!point.add(torsion.multiplyUnsafe(h % 8n)).is0()) continue;
    return { key, message, signature: joined(R, encoded((h * secret) % L)) };
  }
}

/** Key and R with small-order components. Valid only if these cancel out; cofactored verifiers always accept it. */
function mixedOrder(random: Random): Case {
  const [secret, nonce] = [random.scalar(), random.scalar()];
  const [inKey, inR] = [random.of(TORSION), random.of(TORSION)];
  const key = Point.BASE.multiply(secret).add(inKey).toBytes();
  const R = Point.BASE.multiply(nonce).add(inR).toBytes();
  const message = random.message();
  const h = challenge(R, key, message);
  const isGood = inR.add(inKey.multiplyUnsafe(h % 8n)).is0();
  return { kind: 'mixed order', key, message, signature: joined(R, encoded((nonce + h * secret) % L)), isGood };
}

const MAKERS: ((random: Random) => Case)[] = [
  (random) => ({ kind: 'honest', isGood: true, ...honest(random) }),
  (random) => ({ kind: 'honest', isGood: true, ...honest(random) }),
  mixedOrder,
  mixedOrder,
  (random) => ({ kind: 'a key of small order', isGood: false, ...keyOfSmallOrder(random) }),
  (random) => ({ kind: 'an R of small order', isGood: false, ...nonceOfSmallOrder(random) }),
  ...Object.entries(CHANGES).map(([kind, change]) => {
    return (random: Random): Case => ({ kind, isGood: false, ...change(random, honest(random)) });
  }),
];

/** `count` cases that cycle through all kinds. The same seed gives the same cases. */
export function* forgeries(seed: string, count: number): Generator<Case> {
  const random = new Random(seed);
  for (let index = 0; index < count; index += 1) yield MAKERS[index % MAKERS.length]!(random);
}
