/**
 * Lets a creator accept only calls that the marketplace signed. Keys come from the marketplace's directory and are
 * cached. A call with an unknown key causes a new read, so the marketplace can change its key without notice.
 */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { callKeyId, KEY_DIRECTORY_TYPE, type PublicJwk, readPublicJwk, verifyCall } from './callSignature.ts';

/** The source of trusted keys. */
export type CallTrust = (
  | {
      /** `https://MARKETPLACE/.well-known/http-message-signatures-directory` */
      directoryUrl: string;
    }
  | { keys: PublicJwk[] }
) & {
  /** Host (and port) of the listed endpoint, if a proxy in front of this server rewrites the Host header. */
  authority?: string;
};

/** True if a call has a valid signature of the marketplace. Rejects if that cannot be determined. */
export type CallVerifier = (request: IncomingMessage, body: Uint8Array) => Promise<boolean>;

/** The directory is read again after this time, so a removed key is refused by then. */
const KEEP_MS = 10 * 60 * 1000;
/** While the directory cannot be read, its last keys stay valid for this time. */
const STALE_MS = 24 * 60 * 60 * 1000;
/** Calls with unknown keys cause at most one read of the directory in this time. */
const RETRY_MS = 5_000;
const FETCH_TIMEOUT_MS = 5_000;
const MAX_DIRECTORY_BYTES = 64 * 1024;

export function createCallVerifier(trust: CallTrust): CallVerifier {
  const findKey = 'keys' in trust ? findAmong(readKeys(trust.keys)) : createDirectory(trust.directoryUrl);
  return (request, body) =>
    verifyCall(
      {
        method: request.method ?? '',
        authority: trust.authority ?? request.headers.host ?? '',
        path: pathOf(request),
        headers: Object.fromEntries(
          Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        ),
        body,
      },
      findKey,
    );
}

/** The path as the client wrote it: routers shorten `url` and keep the original in `originalUrl`. */
function pathOf(request: IncomingMessage & { originalUrl?: string }): string {
  return (request.originalUrl ?? request.url ?? '').split('?')[0] ?? '';
}

interface KnownKey {
  key: KeyObject;
  /** Unix milliseconds. */
  notBefore: number;
  notAfter: number;
}

/** Keys by thumbprint, regardless of `kid`. Keys that are not Ed25519 are ignored. */
function readKeys(jwks: PublicJwk[]): Map<string, KnownKey> {
  const keys = new Map<string, KnownKey>();
  for (const jwk of jwks) {
    if (jwk?.kty !== 'OKP' || jwk.crv !== 'Ed25519') continue;
    const { nbf = 0, exp = Number.POSITIVE_INFINITY } = jwk;
    keys.set(callKeyId(jwk), { key: readPublicJwk(jwk), notBefore: nbf * 1000, notAfter: exp * 1000 });
  }
  return keys;
}

function usable(known: KnownKey | undefined): KeyObject | null {
  const now = Date.now();
  return known && now >= known.notBefore && now < known.notAfter ? known.key : null;
}

function findAmong(keys: Map<string, KnownKey>) {
  return async (keyId: string): Promise<KeyObject | null> => usable(keys.get(keyId));
}

/** Finds keys in the directory. Rejects if it cannot be read, and its last read is over a day old or lacks the key. */
function createDirectory(url: string) {
  let keys = new Map<string, KnownKey>();
  let readMs = Number.NEGATIVE_INFINITY;
  let triedMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  let problem: unknown;

  async function refresh(): Promise<void> {
    triedMs = performance.now();
    try {
      keys = readKeys(await fetchDirectory(url));
      readMs = performance.now();
      problem = undefined;
    } catch (error) {
      problem = error;
    }
  }

  return async (keyId: string): Promise<KeyObject | null> => {
    const now = performance.now();
    const isDue = !keys.has(keyId) || now - readMs > KEEP_MS;
    if (isDue && (reading || now - triedMs > RETRY_MS)) {
      reading ??= refresh().finally(() => {
        reading = null;
      });
      await reading;
    }
    const isUnknown = problem !== undefined && !keys.has(keyId);
    if (isUnknown || performance.now() - readMs > STALE_MS)
      throw new Error(`${url} cannot be read`, { cause: problem });
    return usable(keys.get(keyId));
  };
}

async function fetchDirectory(url: string): Promise<PublicJwk[]> {
  const response = await fetch(url, {
    headers: { accept: `${KEY_DIRECTORY_TYPE}, application/json` },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (!response.ok || !response.body) throw new Error(`${url} answered with status ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_DIRECTORY_BYTES) throw new Error(`${url} is larger than ${MAX_DIRECTORY_BYTES} bytes`);
    chunks.push(chunk);
  }
  const directory = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { keys?: unknown };
  if (!Array.isArray(directory.keys)) throw new Error(`${url} is not a key directory`);
  return directory.keys;
}
