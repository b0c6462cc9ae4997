/**
 * The signature on the marketplace's calls to creators: HTTP Message Signatures (RFC 9421) with Ed25519.
 * It covers method, authority, path, content type and the digest of the body (RFC 9530). It also covers two headers
 * that the specification's body has no field for: the purpose, and the key that the answer is checked with. The relay
 * signs and creators verify with this list. Neither chooses the covered parts, so no part can be left out.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { httpbis } from 'http-message-signatures';

/** Path of the keys that a marketplace signs calls with: `{"keys": [PublicJwk]}`. */
export const KEY_DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
export const KEY_DIRECTORY_TYPE = 'application/http-message-signatures-directory+json';

/** States the purpose of the signature, so that it is valid for nothing else. */
const TAG = 'agent-marketplace-call';
/** The key, base58, that the answer's signature is checked with. A record keeps the key that was listed at its open. */
export const SIGNING_KEY_HEADER = 'marketplace-signing-key';
/** States if the call is paid; see CallPurpose. */
export const PURPOSE_HEADER = 'marketplace-purpose';
const COVERED = [
  '@method',
  '@authority',
  '@path',
  'content-type',
  'content-digest',
  SIGNING_KEY_HEADER,
  PURPOSE_HEADER,
];
const PARAMETERS = ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'];
const NONCE_BYTES = 16;
/** Validity of a signature; each retry is signed again. */
const LIFETIME_SECONDS = 60;
/** Allowed difference between the two clocks. */
export const CLOCK_SKEW_SECONDS = 60;

/**
 * An `execution` is paid. A `test` comes from the marketplace itself, to check that a server answers, and is not paid.
 */
export type CallPurpose = 'execution' | 'test';

/** An Ed25519 public key as RFC 8037 writes it. Times are unix seconds. */
export interface PublicJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  /** 32 bytes, base64url. */
  x: string;
  kid?: string;
  use?: 'sig';
  nbf?: number;
  exp?: number;
}

/** The key's RFC 7638 thumbprint, its name in signatures. */
export function callKeyId({ crv, kty, x }: PublicJwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}

/** The key as a KeyObject. Throws if it is not an Ed25519 key. */
export function readPublicJwk({ kty, crv, x }: PublicJwk): KeyObject {
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') throw new TypeError('not an Ed25519 public JWK');
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}

function contentDigest(body: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

export interface SigningCall {
  /** The full URL of the request. */
  url: string;
  body: Uint8Array;
  purpose: CallPurpose;
  /** Base58. */
  signingKey: string;
}

/**
 * The headers of a signed call, including Content-Type. Each call has a new nonce, so a server that refuses seen nonces
 * accepts a retry. The execution_id shows that a retry is the same call.
 */
export async function signCall(
  key: { keyId: string; privateKey: KeyObject },
  call: SigningCall,
): Promise<Record<string, string>> {
  const created = new Date();
  const signed = await httpbis.signMessage(
    {
      key: { id: key.keyId, alg: 'ed25519', sign: async (bytes) => sign(null, bytes, key.privateKey) },
      name: 'sig1',
      fields: COVERED,
      params: PARAMETERS,
      paramValues: {
        created,
        expires: new Date(created.getTime() + LIFETIME_SECONDS * 1000),
        nonce: randomBytes(NONCE_BYTES).toString('base64url'),
        tag: TAG,
      },
    },
    {
      method: 'POST',
      url: call.url,
      headers: {
        'content-type': 'application/json',
        'content-digest': contentDigest(call.body),
        [SIGNING_KEY_HEADER]: call.signingKey,
        [PURPOSE_HEADER]: call.purpose,
      },
    },
  );
  return signed.headers as Record<string, string>;
}

export interface ReceivedCall {
  method: string;
  /** Host and path as the marketplace addressed them; the port only if it is not the scheme's default. */
  authority: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Uint8Array;
}

/** True if a call has a valid signature. `findKey` returns a key by its thumbprint; its errors are rethrown. */
export async function verifyCall(
  call: ReceivedCall,
  findKey: (keyId: string) => Promise<KeyObject | null>,
): Promise<boolean> {
  if (call.headers['content-digest'] !== contentDigest(call.body)) return false;
  let lookupFailure: unknown;
  try {
    const isValid = await httpbis.verifyMessage(
      {
        requiredFields: COVERED,
        requiredParams: PARAMETERS,
        tolerance: CLOCK_SKEW_SECONDS,
        keyLookup: async ({ tag, keyid }) => {
          if (tag !== TAG || typeof keyid !== 'string') return null;
          const key = await findKey(keyid).catch((error: unknown) => {
            lookupFailure = error;
            return null;
          });
          if (!key) return null;
          return { algs: ['ed25519'], verify: async (bytes, signature) => verify(null, bytes, key, signature) };
        },
      },
      { method: call.method, url: `https://${call.authority}${call.path}`, headers: call.headers },
    );
    if (isValid === true) return true;
  } catch {
    // Treat unreadable headers like missing ones. Only a failed key look-up is not the call's fault.
  }
  if (lookupFailure !== undefined) throw lookupFailure;
  return false;
}
