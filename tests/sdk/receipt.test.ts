/**
 * Receipts compared with RFC 8785, node:crypto and tweetnacl. No expectation is computed by the code under test.
 * vectors.test.ts has what is valid, and tests/program/signature.test.ts has forged signatures.
 */
import { createHash } from 'node:crypto';
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

function littleEndian(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, '0')).reverse();
}

describe('sdk/receipt: hashes', () => {
  it('parses and prints the text form', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => index * 8);
    expect(formatResultHash(bytes)).to.equal(`sha256:${toHex(bytes)}`);
    expect(parseResultHash(`sha256:${toHex(bytes)}`)).to.deep.equal(bytes);
    expect(() => formatResultHash(bytes.subarray(1))).to.throw(RangeError, '32 bytes');
  });

  const hex = 'ab'.repeat(32);
  const BAD_HASHES = [
    hex,
    `sha256:${hex.toUpperCase()}`,
    `sha256:${hex}00`,
    `sha256:${hex.slice(1)}`,
    `sha256:${hex}\n`,
    `sha256:${hex.slice(1)}g`,
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
    // 25 minutes are more than a quote and its deposit live.
    for (let after = 0n; after < 1_800n; after += 1n) {
      const halfHour = nonceHalfHour(turn + after);
      for (const clock of [after - 300n, after, after + 1_500n]) {
        expect(takesNonceHalfHour(halfHour, turn + clock), `made ${after} s after the turn, at ${clock}`).to.equal(
          true,
        );
      }
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
    '00112233-4455-6677-8899-AABBCCDDEEFF',
    '00112233445566778899aabbccddeeff',
    'urn:uuid:00112233-4455-6677-8899-aabbccddeeff',
    '00112233-4455-6677-8899-aabbccddeef',
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
    ['no prefix', bs58.encode(good)],
    ['an upper-case prefix', `ED25519:${bs58.encode(good)}`],
    ['base64', `ed25519:${Buffer.from(good).toString('base64')}`],
    ['63 bytes', asText(good.subarray(1))],
    ['65 bytes', asText(Uint8Array.from([...good, 1]))],
    ['a leading zero byte more', `ed25519:1${bs58.encode(good)}`],
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
});
