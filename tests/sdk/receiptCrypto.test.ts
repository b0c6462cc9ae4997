/**
 * Node's cryptography, which the relay uses before it pays, compared with the verifier of callers' browsers. Both must
 * give the same verdict for every input.
 */
import { createHash, randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { satisfiesAnywhere } from '../../app/sdk/receipt/crypto.ts';
import {
  admissibleSignature,
  canonicalRequest,
  hashResult,
  parseSignature,
  requestHash,
  signMessage,
  signResult,
  verifyMessage,
  verifyResultSignature,
} from '../../app/sdk/receipt/receipt.ts';
import vectors from '../../examples/vectors.json' with { type: 'json' };

const ROUNDS = 300;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
/** Generates the eight points of small order. */
const TORSION = ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');

const asText = (signature: Uint8Array): string => `ed25519:${bs58.encode(signature)}`;
const fromLittleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const littleEndian = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();

/** The common verdict of both; throws where they differ. */
function verdict(publicKey: Uint8Array, message: string, signature: string): boolean {
  const bytes = admissibleSignature(publicKey, signature);
  const says = bytes !== null && satisfiesAnywhere(publicKey, Buffer.from(message, 'utf8'), bytes);
  const inputs = `${Buffer.from(publicKey).toString('hex')} ${JSON.stringify(message)} ${signature}`;
  expect(verifyMessage(publicKey, message, signature), inputs).to.equal(says);
  return says;
}

/** One input with one fault, which changes with each round. */
function mutate(round: number, key: Uint8Array, message: string, signature: Uint8Array): [Uint8Array, string, string] {
  const bent = (bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array => {
    const copy = Uint8Array.from(bytes);
    copy[from + (round % (to - from))]! ^= 1 << (round % 8);
    return copy;
  };
  const plusOrder = (): Uint8Array =>
    Uint8Array.from([...signature.subarray(0, 32), ...littleEndian(fromLittleEndian(signature.subarray(32)) + L)]);
  const changes: [Uint8Array, string, string][] = [
    [bent(key), message, asText(signature)],
    [key, `${message}.`, asText(signature)],
    [key, message, asText(bent(signature, 0, 32))],
    [key, message, asText(bent(signature, 32, 64))],
    [randomBytes(32), message, asText(signature)],
    [key, message, asText(randomBytes(64))],
    [key.subarray(1), message, asText(signature)],
    [key, message, asText(signature.subarray(1))],
    [key, message, asText(signature).slice(8)],
    [key, message, asText(plusOrder())],
    [TORSION.multiplyUnsafe(BigInt(round % 8)).toBytes(), message, asText(signature)],
    [key, message, asText(Uint8Array.from([...TORSION.toBytes(), ...signature.subarray(32)]))],
  ];
  return changes[round % changes.length]!;
}

describe('sdk/receiptCrypto', () => {
  it('agrees on the published vectors', () => {
    const pair = nacl.sign.keyPair.fromSeed(Buffer.from(vectors.keys.creator.seed_hex, 'hex'));
    for (const { result, result_hash, signature } of vectors.results.vectors) {
      expect(hashResult(result)).to.equal(result_hash);
      expect(signResult(pair.secretKey, result_hash)).to.equal(signature);
      expect(verdict(pair.publicKey, result_hash, signature)).to.equal(true);
      expect(verifyResultSignature(pair.publicKey, result_hash, signature)).to.equal(true);
      expect(verifyResultSignature(pair.publicKey, result_hash.toUpperCase(), signature)).to.equal(false);
    }
  });

  it(`agrees on ${ROUNDS} random messages, and on each with one error`, () => {
    const pairs = Array.from({ length: 50 }, () => nacl.sign.keyPair.fromSeed(randomBytes(32)));
    for (let round = 0; round < ROUNDS; round += 1) {
      const { publicKey, secretKey } = pairs[round % pairs.length]!;
      const message = randomBytes(round % 200).toString('latin1');
      const text = signMessage(secretKey, message);
      expect(text).to.equal(asText(nacl.sign.detached(Buffer.from(message, 'utf8'), secretKey)));
      expect(verdict(publicKey, message, text)).to.equal(true);
      const signature = parseSignature(text)!;
      expect(verdict(...mutate(round, publicKey, message, signature))).to.equal(false);
    }
  });

  it('agrees on keys and signatures with a small-order part: only the cofactorless equation counts', () => {
    let accepted = 0;
    let onlyWithCofactor = 0;
    for (let round = 0; round < 200; round += 1) {
      const scalar = (fromLittleEndian(randomBytes(32)) % (L - 1n)) + 1n;
      const nonce = (fromLittleEndian(randomBytes(32)) % (L - 1n)) + 1n;
      const torsion = TORSION.multiplyUnsafe(BigInt(round % 8));
      const key = ed25519.Point.BASE.multiply(scalar).add(torsion).toBytes();
      const R = ed25519.Point.BASE.multiply(nonce).add(round % 3 === 0 ? torsion : ed25519.Point.ZERO);
      const message = `round ${round}`;
      const hash = createHash('sha512').update(R.toBytes()).update(key).update(message).digest();
      const s = (nonce + (fromLittleEndian(hash) % L) * scalar) % L;
      const signature = Uint8Array.from([...R.toBytes(), ...littleEndian(s)]);
      const isGood = verdict(key, message, asText(signature));
      if (isGood) accepted += 1;
      else if (ed25519.verify(signature, Buffer.from(message), key, { zip215: false })) onlyWithCofactor += 1;
    }
    expect(accepted).to.be.greaterThan(20);
    expect(onlyWithCofactor).to.be.greaterThan(20);
  });

  it('agrees on hashes of texts and requests of every length, and on invalid ones', () => {
    for (let length = 0; length < 300; length += 1) {
      const text = randomBytes(length).toString('latin1') + '\ud800é世🌍'.repeat(length % 5);
      expect(hashResult(text)).to.equal(`sha256:${bytesToHex(sha256(utf8ToBytes(text)))}`);
      const task = text.toWellFormed();
      const request = utf8ToBytes(canonicalRequest(task, { length }));
      expect(requestHash(task, { length })).to.deep.equal(sha256(request));
    }
    expect(() => requestHash('\ud800')).to.throw();
    expect(() => signResult(new Uint8Array(64), 'sha256:')).to.throw(RangeError, 'result_hash');
    expect(() => signMessage(new Uint8Array(32), '')).to.throw(RangeError, 'a secret key must be 64 bytes, not 32');
  });
});
