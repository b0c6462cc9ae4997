/**
 * The keys that sign calls to creators. Each belongs to this relay alone and is never the authority that signs
 * transactions: it signs untrusted URLs and bodies, its public key is published, and its rotation must cost nothing.
 * The file holds private JWKs, newest first. The first signs, and all are in the directory.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { callKeyId, type PublicJwk, type SigningCall, signCall } from '../../sdk/creator/callSignature.ts';
import { parseJsonFile } from '../../sdk/wire/jsonFile.ts';
import type { KeyDirectory } from '../../sdk/wire/wire.ts';

/** The directory lists this many after a rotation: the new key and the one before it. */
const MAX_KEYS = 2;

interface PrivateJwk extends PublicJwk {
  d: string;
}

/** Reads the file, or makes it with one key if it does not exist. Throws with the path if it is unusable. */
export function loadCallKeys(path: string) {
  const keys = readKeys(path) ?? createKeys(path);
  const [newest] = keys;
  if (!newest) throw new Error(`${path} contains no key`);
  const signing = { keyId: callKeyId(newest), privateKey: privateKeyOf(newest) };
  return {
    /** Our keys for GET /.well-known/http-message-signatures-directory, the signing one first. */
    directory: {
      keys: keys.map((jwk) => ({ kty: 'OKP', crv: 'Ed25519', x: jwk.x, kid: callKeyId(jwk), use: 'sig' })),
    } satisfies KeyDirectory,
    /** The headers that sign a call. */
    sign: (call: SigningCall): Promise<Record<string, string>> => signCall(signing, call),
  };
}

/** Puts a new key first and keeps the one before it. A relay uses it from its next start. Returns its key id. */
export function rotateCallKeys(path: string): string {
  const fresh = generateKey();
  writeKeys(path, [fresh, ...(readKeys(path) ?? [])].slice(0, MAX_KEYS), 'w');
  return callKeyId(fresh);
}

function generateKey(): PrivateJwk {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as unknown as PrivateJwk;
}

function privateKeyOf(jwk: PrivateJwk): KeyObject {
  return createPrivateKey({ key: { ...jwk }, format: 'jwk' });
}

function writeKeys(path: string, keys: PrivateJwk[], flag: 'w' | 'wx'): void {
  // On PostgreSQL, nothing else creates DATA_DIR.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600, flag });
}

/** Another process on the same folder may be first; then we use its keys. */
function createKeys(path: string): PrivateJwk[] {
  const keys = [generateKey()];
  try {
    writeKeys(path, keys, 'wx');
    return keys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readKeys(path)!;
  }
}

function readKeys(path: string): PrivateJwk[] | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { keys } = parseJsonFile(text) as { keys: PrivateJwk[] };
    for (const jwk of keys) {
      if (privateKeyOf(jwk).asymmetricKeyType !== 'ed25519') throw new TypeError('another kind of key');
    }
    return keys;
  } catch (error) {
    // The message of a SyntaxError quotes the file.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message;
    throw new Error(`${path} is not a file of Ed25519 keys ({"keys": [private JWK]}): ${reason}`);
  }
}
