/**
 * Receipts compared with RFC 8785, node:crypto, @noble/curves for group arithmetic, and tweetnacl as a second verifier.
 * No expectation is computed by the code under test. vectors.test.ts and receiptCrypto.test.ts have what is valid.
 */
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import {
  createNonce,
  deriveExecutionId,
  formatResultHash,
  formatUuid,
  hashResult,
  isAdmissibleKey,
  nonceHalfHour,
  parseResultHash,
  parseSignature,
  parseUuid,
  requestHash,
  signResult,
  takesNonceHalfHour,
  verifyMessage,
  verifyResultSignature,
} from '../../app/sdk/receipt/receipt.ts';

const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const asText = (signature: Uint8Array): string => `ed25519:${bs58.encode(signature)}`;

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function littleEndian(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, '0')).reverse();
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(Uint8Array.from(bytes).reverse())}`);
}

/** The eight points of small order: multiples of the generator of the torsion group. */
function smallOrderPoints(): Uint8Array[] {
  const generator = ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
  const points = [ed25519.Point.ZERO];
  for (let index = 1; index < 8; index += 1) points.push(points[index - 1]!.add(generator));
  expect(points[7]!.add(generator).equals(ed25519.Point.ZERO)).to.equal(true);
  return points.map((point) => point.toBytes());
}

/** Encodings that decoders accept but RFC 8032 never produces: y of p and p + 1, and x = 0 with its sign bit. */
const NON_CANONICAL_SMALL_ORDER = [
  P,
  P + 1n,
  P + 2n ** 255n,
  P + 1n + 2n ** 255n,
  1n + 2n ** 255n,
  P - 1n + 2n ** 255n,
];

describe('sdk/receipt: hashes', () => {
  it('parses and prints the text form', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => index * 8);
    expect(formatResultHash(bytes)).to.equal(`sha256:${toHex(bytes)}`);
    expect(parseResultHash(`sha256:${toHex(bytes)}`)).to.deep.equal(bytes);
    expect(() => formatResultHash(bytes.subarray(1))).to.throw(RangeError, '32 bytes');
  });

  const hex = 'ab'.repeat(32);
  const BAD_HASHES = [
    '',
    hex,
    `sha256:${hex.toUpperCase()}`,
    `SHA256:${hex}`,
    `sha256:${hex}00`,
    `sha256:${hex.slice(1)}`,
    `sha256: ${hex}`,
    `sha256:${hex}\n`,
    `sha256:${hex.slice(1)}g`,
    `sha512:${hex}`,
  ];
  it('rejects: another text form', () => {
    for (const text of BAD_HASHES) expect(() => parseResultHash(text), text).to.throw(RangeError, 'result_hash');
  });
});

describe('sdk/receipt: request hash', () => {
  const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

  it('sorts keys by UTF-16 units like the example of RFC 8785 section 3.2.3', () => {
    const parameters = JSON.parse(String.raw`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew",
      "1": "One", "\ud83d\ude00": "Emoji", "\u0080": "Control", "\u00f6": "Latin"}`);
    const canonical =
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin","€":"Euro Sign","😀":"Emoji","\ufb33":"Hebrew"}';
    expect(toHex(requestHash('t', parameters))).to.equal(sha256(`{"parameters":${canonical},"task":"t"}`));
  });

  it('keeps an own __proto__ key that JSON.parse made', () => {
    expect(toHex(requestHash('t', JSON.parse('{"__proto__":1}')))).to.equal(
      sha256('{"parameters":{"__proto__":1},"task":"t"}'),
    );
  });

  it('rejects: values without a canonical form', () => {
    expect(() => requestHash('\ud800')).to.throw();
    expect(() => requestHash('t', { n: Number.NaN })).to.throw();
    expect(() => requestHash('t', { n: Number.POSITIVE_INFINITY })).to.throw();
  });
});

describe('sdk/receipt: nonces', () => {
  it('begin with the day in little-endian, and end with given or random bytes', () => {
    const tail = fromHex('0102030405060708090a0b0c');
    expect(Buffer.from(createNonce(20_454, tail)).toString('hex')).to.equal('e64f00000102030405060708090a0b0c');
    expect(Buffer.from(createNonce(2 ** 32 - 1, tail)).toString('hex', 0, 4)).to.equal('ffffffff');
    const made = Array.from({ length: 100 }, () => Buffer.from(createNonce(20_454)).toString('hex'));
    expect(new Set(made).size).to.equal(100);
    for (const nonce of made) expect(nonce).to.match(/^e64f0000[0-9a-f]{24}$/);
    for (const length of [0, 11, 13, 16]) {
      expect(() => createNonce(1, new Uint8Array(length))).to.throw(RangeError, "a nonce's tail must be 12 bytes");
    }
  });

  it('name a half-hour that the chain accepts, if the clock is five minutes ahead to 25 minutes behind', () => {
    const turn = 1_767_225_600n;
    const present = Number(turn / 1_800n);
    expect([0n, 299n, 300n, 1_800n + 299n].map((after) => nonceHalfHour(turn + after) - present)).to.deep.equal([
      -1, -1, 0, 0,
    ]);
    for (let after = 0n; after < 1_800n; after += 60n) {
      for (const ahead of [300n, 0n, -1_500n]) {
        const halfHour = nonceHalfHour(turn + after + ahead);
        expect(takesNonceHalfHour(halfHour, turn + after), `${after} s after the turn, ${ahead} s ahead`).to.equal(
          true,
        );
      }
    }
  });

  it('open for at least 25 minutes, which is more than a quote and its deposit live', () => {
    const turn = 1_767_225_600n;
    for (let after = 0n; after < 1_800n; after += 1n) {
      const halfHour = nonceHalfHour(turn + after);
      expect(takesNonceHalfHour(halfHour, turn + after + 1_500n), `made ${after} s after the turn`).to.equal(true);
    }
    expect(takesNonceHalfHour(nonceHalfHour(turn + 299n), turn + 299n + 1_501n)).to.equal(false);
  });

  it('are accepted in their half-hour and the next, to the second', () => {
    const turn = 1_767_225_600n;
    const halfHour = Number(turn / 1_800n);
    const takenAt = (after: bigint) => takesNonceHalfHour(halfHour, turn + after);
    expect([-1n, 0n, 2n * 1_800n - 1n, 2n * 1_800n].map(takenAt)).to.deep.equal([false, true, true, false]);
  });
});

describe('sdk/receipt: execution ids', () => {
  it('rejects: other lengths', () => {
    expect(() => deriveExecutionId(new Uint8Array(31), new Uint8Array(16))).to.throw(RangeError, 'caller');
    expect(() => deriveExecutionId(new Uint8Array(32), new Uint8Array(17))).to.throw(RangeError, 'nonce');
    expect(() => formatUuid(new Uint8Array(15))).to.throw(RangeError, '16 bytes');
  });

  it('parses its own text form', () => {
    const id = fromHex('00112233445566778899aabbccddeeff');
    expect(formatUuid(id)).to.equal('00112233-4455-6677-8899-aabbccddeeff');
    expect(parseUuid('00112233-4455-6677-8899-aabbccddeeff')).to.deep.equal(id);
  });

  const BAD_UUIDS = [
    '',
    '00112233-4455-6677-8899-AABBCCDDEEFF',
    '00112233445566778899aabbccddeeff',
    '{00112233-4455-6677-8899-aabbccddeeff}',
    'urn:uuid:00112233-4455-6677-8899-aabbccddeeff',
    '00112233-4455-6677-8899-aabbccddeef',
    '00112233-4455-6677-8899-aabbccddeeff0',
    '00112233-4455-6677-8899-aabbccddeeff\n',
    '001122334-455-6677-8899-aabbccddeeff',
    'g0112233-4455-6677-8899-aabbccddeeff',
  ];
  it('rejects: another text form', () => {
    for (const text of BAD_UUIDS) expect(parseUuid(text), text).to.equal(null);
  });
});

describe('sdk/receipt: signatures', () => {
  const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
  const hash = hashResult('the work');
  const message = Buffer.from(hash, 'utf8');
  const good = nacl.sign.detached(message, pair.secretKey);

  it('rejects: another key, another hash, and a malformed hash', () => {
    const other = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(8));
    expect(verifyResultSignature(other.publicKey, hash, asText(good))).to.equal(false);
    expect(verifyResultSignature(pair.publicKey, hashResult('other work'), asText(good))).to.equal(false);
    const upper = `sha256:${hash.slice(7).toUpperCase()}`;
    const overUpper = nacl.sign.detached(Buffer.from(upper), pair.secretKey);
    expect(verifyMessage(pair.publicKey, upper, asText(overUpper))).to.equal(true);
    expect(verifyResultSignature(pair.publicKey, upper, asText(overUpper))).to.equal(false);
    expect(() => signResult(pair.secretKey, upper)).to.throw(RangeError, 'result_hash');
    expect(() => signResult(pair.secretKey.subarray(0, 32), hash)).to.throw(RangeError, 'secret key');
  });

  it('rejects: a signature over the 32 hash bytes instead of the text', () => {
    const overBytes = nacl.sign.detached(parseResultHash(hash), pair.secretKey);
    expect(verifyResultSignature(pair.publicKey, hash, asText(overBytes))).to.equal(false);
  });

  const BAD_TEXTS: [string, string][] = [
    ['nothing', ''],
    ['no prefix', bs58.encode(good)],
    ['an upper-case prefix', `ED25519:${bs58.encode(good)}`],
    ['hex', `ed25519:${toHex(good)}`],
    ['base64', `ed25519:${Buffer.from(good).toString('base64')}`],
    ['63 bytes', asText(good.subarray(1))],
    ['65 bytes', asText(Uint8Array.from([...good, 1]))],
    ['a leading zero byte more', `ed25519:1${bs58.encode(good)}`],
    ['a space in front', `ed25519: ${bs58.encode(good)}`],
    ['a line end', `ed25519:${bs58.encode(good)}\n`],
    ['a megabyte of base58', `ed25519:${'z'.repeat(1_000_000)}`],
  ];
  it('rejects: another text form', () => {
    expect(parseSignature(asText(good))).to.deep.equal(good);
    for (const [what, text] of BAD_TEXTS) {
      expect(parseSignature(text), what).to.equal(null);
      expect(verifyResultSignature(pair.publicKey, hash, text), what).to.equal(false);
    }
  });

  it('rejects: S + L, which tweetnacl accepts as a second signature for the same text', () => {
    const s = fromLittleEndian(good.subarray(32));
    expect(s < L).to.equal(true);
    const malleable = Uint8Array.from([...good.subarray(0, 32), ...littleEndian(s + L)]);
    expect(nacl.sign.detached.verify(message, malleable, pair.publicKey)).to.equal(true);
    expect(verifyResultSignature(pair.publicKey, hash, asText(malleable))).to.equal(false);
  });

  it('rejects: S at the group order and far above it', () => {
    for (const s of [L, L + 1n, 2n ** 253n, 2n ** 256n - 1n]) {
      const bytes = Uint8Array.from([...good.subarray(0, 32), ...littleEndian(s)]);
      expect(verifyResultSignature(pair.publicKey, hash, asText(bytes)), `S = ${s}`).to.equal(false);
    }
  });

  it('rejects: all 8 points of small order and their non-canonical encodings as keys', () => {
    const encodings = [...smallOrderPoints(), ...NON_CANONICAL_SMALL_ORDER.map(littleEndian)];
    expect(new Set(encodings.map(toHex)).size).to.equal(14);
    for (const key of encodings) expect(isAdmissibleKey(key), toHex(key)).to.equal(false);
  });

  it('rejects: a forgery under each small-order key that tweetnacl accepts for some text', () => {
    // With A of small order and R = S*B, the equation holds whenever h*A is the identity: for at least one text in
    // eight.
    const scalar = 12345n;
    const R = ed25519.Point.BASE.multiply(scalar).toBytes();
    const forged = Uint8Array.from([...R, ...littleEndian(scalar)]);
    let accepted = 0;
    for (const key of smallOrderPoints()) {
      for (let attempt = 0; attempt < 12; attempt += 1) {
        const text = hashResult(`attempt ${attempt}`);
        if (nacl.sign.detached.verify(Buffer.from(text), forged, key)) accepted += 1;
        expect(verifyResultSignature(key, text, asText(forged)), toHex(key)).to.equal(false);
      }
    }
    expect(accepted).to.be.greaterThan(12);
  });

  it('rejects: R of small order, even when the equation is correct', () => {
    // With S = h*a and R the identity, S*B = R + h*A. RFC 8032's equation holds, but the chain refuses the signature.
    const { scalar } = ed25519.utils.getExtendedPublicKey(pair.secretKey.subarray(0, 32));
    const identity = littleEndian(1n);
    const digest = createHash('sha512')
      .update(Buffer.concat([identity, pair.publicKey, message]))
      .digest();
    const h = BigInt(`0x${toHex(Uint8Array.from(digest).reverse())}`) % L;
    const signature = Uint8Array.from([...identity, ...littleEndian((h * scalar) % L)]);
    expect(nacl.sign.detached.verify(message, signature, pair.publicKey)).to.equal(true);
    expect(verifyResultSignature(pair.publicKey, hash, asText(signature))).to.equal(false);
    for (const R of [...smallOrderPoints(), ...NON_CANONICAL_SMALL_ORDER.map(littleEndian)]) {
      const bytes = Uint8Array.from([...R, ...good.subarray(32)]);
      expect(verifyResultSignature(pair.publicKey, hash, asText(bytes)), toHex(R)).to.equal(false);
    }
  });

  it('accepts keys by length, canonical y and order only', () => {
    expect(isAdmissibleKey(pair.publicKey)).to.equal(true);
    expect(isAdmissibleKey(pair.publicKey.subarray(1))).to.equal(false);
    expect(isAdmissibleKey(new Uint8Array(33))).to.equal(false);
    expect(isAdmissibleKey(littleEndian(P - 2n))).to.equal(true);
    for (let y = P; y < 2n ** 255n; y += 1n) {
      expect(isAdmissibleKey(littleEndian(y)), `y = p + ${y - P}`).to.equal(false);
      expect(isAdmissibleKey(littleEndian(y + 2n ** 255n)), `y = p + ${y - P}, sign`).to.equal(false);
    }
  });

  it('verifies nothing with a key that is not a curve point', () => {
    let offCurve: Uint8Array | undefined;
    for (let y = 2n; !offCurve; y += 1n) {
      try {
        ed25519.Point.fromBytes(littleEndian(y));
      } catch {
        offCurve = littleEndian(y);
      }
    }
    expect(isAdmissibleKey(offCurve)).to.equal(true);
    expect(verifyResultSignature(offCurve, hash, asText(good))).to.equal(false);
  });
});
