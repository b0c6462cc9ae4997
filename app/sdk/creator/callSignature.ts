/**
 * The signature on the marketplace's calls to creators: HTTP Message Signatures (RFC 9421) by Ed25519 over method,
 * authority, path, content type, the digest of the body (RFC 9530), and what the body of the specification has no place
 * for: what the call is for, and by which key its answer will be checked. The relay signs with it, creators verify with it;
 * neither chooses what is covered, so that no part of a call can be left out.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { httpbis } from 'http-message-signatures';

/** Where a marketplace serves the keys that it signs calls with: `{"keys": [PublicJwk]}`. */
export const KEY_DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
export const KEY_DIRECTORY_TYPE = 'application/http-message-signatures-directory+json';

/** Says what the signature is for, so that it is good for nothing else. */
const TAG = 'agent-marketplace-call';
/** The key, base58, that the answer's signature will be checked by: a record keeps the key of its open. */
export const SIGNING_KEY_HEADER = 'marketplace-signing-key';
/** Whether somebody pays for the answer. */
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
/** How long a signature is good for; a retry is signed anew. */
const LIFETIME_SECONDS = 60;
/** How far the two clocks may be apart. */
export const CLOCK_SKEW_SECONDS = 60;

/** `execution` is paid for; `test` is the marketplace's own, to see whether a server answers, and is not. */
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

/** The key in a form that verifies. Throws on what is not an Ed25519 key. */
export function readPublicJwk({ kty, crv, x }: PublicJwk): KeyObject {
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') throw new TypeError('not an Ed25519 public JWK');
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}

function contentDigest(body: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

export interface SigningCall {
  /** The full URL that is posted to. */
  url: string;
  body: Uint8Array;
  purpose: CallPurpose;
  /** Base58. */
  signingKey: string;
}

/**
 * The headers of a signed call, Content-Type among them. Its nonce is new each time, so that whoever refuses nonces that
 * were seen lets a retry in; that a retry is the same call is said by its execution_id.
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
  /** Host, with its port unless that is the scheme's own, and path as the marketplace addressed them. */
  authority: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Uint8Array;
}

/** Whether a call bears a valid signature. `findKey` gives a key by its thumbprint; what it throws is thrown on. */
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
    // Headers that cannot be read are like none; only a failed look for the key is no fault of the call's.
  }
  if (lookupFailure !== undefined) throw lookupFailure;
  return false;
}
