/**
 * Receipts: hashes, identifiers and signatures that tie a paid execution to a result, in a browser or in Node. Callers
 * use it to check a result, and the relay to check what it pays for. Pure and synchronous.
 *
 * The chain's additions to RFC 8032 (no small-order point, canonical encodings) are checked before the equation.
 */
import { bytesToHex, concatBytes, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import canonicalize from 'canonicalize';
import { satisfiesEquation, sha256, signBytes } from './crypto.ts';

const RESULT_HASH = /^sha256:([0-9a-f]{64})$/;
/** 64 bytes are between 64 (all zero) and 88 base58 characters. */
const SIGNATURE = /^ed25519:([1-9A-HJ-NP-Za-km-z]{64,88})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const EXECUTION_ID_DOMAIN = utf8ToBytes('agent-marketplace:execution:v1');
const EXECUTION_MESSAGE_DOMAIN = 'agent-marketplace:v1';

/** `sha256:` and the lower-case hex SHA-256 of the UTF-8 bytes of `result`: the hash that is signed and committed. */
export function hashResult(result: string): string {
  return formatResultHash(sha256(utf8ToBytes(result)));
}

/** The 32 bytes in a result hash. Throws RangeError unless it is `sha256:` and 64 lower-case hex digits. */
export function parseResultHash(resultHash: string): Uint8Array {
  const hex = RESULT_HASH.exec(resultHash)?.[1];
  if (!hex) throw new RangeError('result_hash must be "sha256:" and 64 lower-case hex digits');
  return hexToBytes(hex);
}

/** True if a text has the form of a result hash. */
export function isResultHash(text: string): boolean {
  return RESULT_HASH.test(text);
}

/** The text form of 32 hash bytes, such as those of an ExecutionRecord. Throws RangeError on another length. */
export function formatResultHash(hash: Uint8Array): string {
  return `sha256:${bytesToHex(requireLength('a result hash', hash, 32))}`;
}

/**
 * The hash that an execution's open commits to: SHA-256 of the RFC 8785 JSON `{"parameters":P,"task":T}`, 32 bytes.
 * Absent parameters are `{}`. Throws for values without canonical form: NaN, infinities, lone surrogates, cycles.
 */
export function requestHash(task: string, parameters: object = {}): Uint8Array {
  return sha256(utf8ToBytes(canonicalRequest(task, parameters)));
}

/** The text whose UTF-8 bytes `requestHash` hashes. Throws as it does. */
export function canonicalRequest(task: string, parameters: object = {}): string {
  const canonical = canonicalize({ parameters, task });
  if (canonical === undefined) throw new TypeError('the request has no canonical JSON form');
  return canonical;
}

/** The program's constant. */
const HALF_HOUR_SECONDS = 1_800n;
/** If a clock is at most this far ahead of the chain's, its nonces still name a half-hour that the chain accepts. */
const CLOCK_MARGIN_SECONDS = 300n;

/**
 * The half-hour that a nonce starts with. The program accepts its own present and previous one, so no id ever recurs.
 * The result is shifted back by five minutes: a clock ahead of the chain's must not name the chain's next half-hour. So
 * a nonce made by the chain's clock can open for at least 25 minutes.
 */
export function nonceHalfHour(unixSeconds: bigint): number {
  return Number((unixSeconds - CLOCK_MARGIN_SECONDS) / HALF_HOUR_SECONDS);
}

/**
 * True if the program accepts a nonce of this half-hour while its clock is at `unixSeconds`: the same half-hour, or the
 * one before.
 */
export function takesNonceHalfHour(halfHour: number, unixSeconds: bigint): boolean {
  const age = Number(unixSeconds / HALF_HOUR_SECONDS) - halfHour;
  return age === 0 || age === 1;
}

/** The nonce of an open, 16 bytes: the half-hour as a little-endian u32, then 12 bytes, random by default. */
export function createNonce(halfHour: number, tail: Uint8Array = randomBytes(12)): Uint8Array {
  const nonce = new Uint8Array(16);
  new DataView(nonce.buffer).setUint32(0, halfHour, true);
  nonce.set(requireLength("a nonce's tail", tail, 12), 4);
  return nonce;
}

/**
 * The 16 bytes of an execution id: the first half of SHA-256(domain, caller, nonce) with the bits of UUID version 8.
 * The program computes the same, so that only this caller can ever use the id.
 */
export function deriveExecutionId(caller: Uint8Array, nonce: Uint8Array): Uint8Array {
  const parts = [requireLength('a caller', caller, 32), requireLength('a nonce', nonce, 16)];
  const id = sha256(concatBytes(EXECUTION_ID_DOMAIN, ...parts)).slice(0, 16);
  id[6] = (id[6]! & 0x0f) | 0x80;
  id[8] = (id[8]! & 0x3f) | 0x80;
  return id;
}

/** 16 bytes as a lower-case UUID. Throws RangeError on another length. */
export function formatUuid(id: Uint8Array): string {
  const hex = bytesToHex(requireLength('an id', id, 16));
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The 16 bytes of a UUID of any version in its lower-case form with hyphens; null for any other text. */
export function parseUuid(text: string): Uint8Array | null {
  return UUID.test(text) ? hexToBytes(text.replaceAll('-', '')) : null;
}

/**
 * The creator's signature over a result hash: `ed25519:` and base58. `secretKey` is the 64-byte form of Solana's tools,
 * seed then public key. Throws RangeError on a wrong key length or a malformed hash.
 */
export function signResult(secretKey: Uint8Array, resultHash: string): string {
  parseResultHash(resultHash);
  return signMessage(secretKey, resultHash);
}

/**
 * True if `signature` is the creator's over `resultHash`, by the rules of the chain: S below the group order, canonical
 * encodings, neither the key nor R of small order. Never throws, even for malformed input.
 */
export function verifyResultSignature(publicKey: Uint8Array, resultHash: string, signature: string): boolean {
  return isResultHash(resultHash) && verifyMessage(publicKey, resultHash, signature);
}

/** The Ed25519 signature over the UTF-8 bytes of `message`: `ed25519:` and base58. */
export function signMessage(secretKey: Uint8Array, message: string): string {
  const seed = requireLength('a secret key', secretKey, 64).subarray(0, 32);
  return formatSignature(signBytes(utf8ToBytes(message), seed));
}

/** Verifies a signature over bytes, or over the UTF-8 bytes of a text, as strictly as `verifyResultSignature`. */
export function verifyMessage(publicKey: Uint8Array, message: string | Uint8Array, signature: string): boolean {
  const bytes = admissibleSignature(publicKey, signature);
  const signed = typeof message === 'string' ? utf8ToBytes(message) : message;
  return bytes !== null && satisfiesEquation(publicKey, signed, bytes);
}

/**
 * The 64 bytes of a signature that the chain may accept under this key; null if it refuses the signature for any
 * message. Only the equation of RFC 8032 is left to check.
 */
export function admissibleSignature(publicKey: Uint8Array, signature: string): Uint8Array | null {
  const bytes = parseSignature(signature);
  if (!bytes || !isAdmissibleKey(publicKey)) return null;
  // R must pass the same test as a key, and S must be reduced. Otherwise anyone could make a second signature from a
  // first.
  return isAdmissibleKey(bytes.subarray(0, 32)) && isBelow(bytes.subarray(32), GROUP_ORDER) ? bytes : null;
}

/** The text form of a signature's 64 bytes. Throws RangeError on another length. */
export function formatSignature(signature: Uint8Array): string {
  return `ed25519:${bs58.encode(requireLength('a signature', signature, 64))}`;
}

/** The 64 bytes in `ed25519:` and base58, as the settling transaction carries them; null for any other text. */
export function parseSignature(signature: string): Uint8Array | null {
  const text = SIGNATURE.exec(signature)?.[1];
  const bytes = text === undefined ? undefined : bs58.decodeUnsafe(text);
  return bytes?.length === 64 ? bytes : null;
}

/**
 * True if the program admits `publicKey` as a signing key: 32 bytes, y below the field's prime, and not of small order.
 * Signatures of the eight points of small order fit almost any message. An encoding that is not a point passes here,
 * and then verifies nothing.
 */
export function isAdmissibleKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32) return false;
  const y = Uint8Array.from(publicKey);
  // The top bit is the sign of x. Clearing it also covers the second, non-canonical encodings of x = 0.
  y[31] = y[31]! & 0x7f;
  return isBelow(y, FIELD_PRIME) && !SMALL_ORDER_Y.has(bytesToHex(y));
}

/**
 * The message of an `execution_signature`: a result bound to one execution of one program. `programId` is base58,
 * `executionId` the UUID, `requestHashHex` 64 hex digits, `resultHash` with its `sha256:` prefix.
 */
export function executionMessage(
  programId: string,
  executionId: string,
  requestHashHex: string,
  resultHash: string,
): string {
  return [EXECUTION_MESSAGE_DOMAIN, programId, executionId, requestHashHex, resultHash].join(':');
}

/**
 * The message that a wallet signs to start an execution that it opened itself. It has the record's address in base58
 * and the record's request hash in hex.
 */
export function startMessage(record: string, requestHashHex: string): string {
  return ['agent-marketplace:start:v1', record, requestHashHex].join(':');
}

/** 2^255 - 19 and L = 2^252 + 27742317777372353535851937790883648493 (RFC 8032, 5.1), little-endian. */
const FIELD_PRIME = hexToBytes('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');
const GROUP_ORDER = hexToBytes('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');

/** The five y coordinates, sign bit cleared, of the eight points whose order divides 8. */
const SMALL_ORDER_Y = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

/** Compares two little-endian numbers of 32 bytes. */
function isBelow(value: Uint8Array, bound: Uint8Array): boolean {
  for (let index = 31; index >= 0; index -= 1) {
    const difference = value[index]! - bound[index]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function requireLength(what: string, bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new RangeError(`${what} must be ${length} bytes, not ${bytes.length}`);
  return bytes;
}
