/**
 * The keys that sign calls to creators. They are this relay's alone and never the authority that signs transactions:
 * what is signed here is shaped by strangers' URLs and bodies, the public half is handed to everybody, and a change of
 * key must cost nothing. The file holds private JWKs, newest first: the first signs, all are in the directory.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { callKeyId, type PublicJwk, type SigningCall, signCall } from '../../sdk/creator/callSignature.ts';
import type { KeyDirectory } from '../../sdk/wire/wire.ts';

/** As many as the directory lists after a change: the new key and the one before it. */
const MAX_KEYS = 2;

interface PrivateJwk extends PublicJwk {
  d: string;
}

export interface CallKeys {
  /** Ours in what GET /.well-known/http-message-signatures-directory answers, the signing one first. */
  directory: KeyDirectory;
  /** The headers that a call is sent with. */
  sign(call: SigningCall): Promise<Record<string, string>>;
}

/** Reads the file, or makes it with one key where there is none. Throws with the path where it is unusable. */
export function loadCallKeys(path: string): CallKeys {
  const keys = readKeys(path) ?? createKeys(path);
  const [newest] = keys;
  if (!newest) throw new Error(`${path} holds no key`);
  const signing = { keyId: callKeyId(newest), privateKey: privateKeyOf(newest) };
  return {
    directory: {
      keys: keys.map((jwk) => ({ kty: 'OKP', crv: 'Ed25519', x: jwk.x, kid: callKeyId(jwk), use: 'sig' })),
    },
    sign: (call) => signCall(signing, call),
  };
}

/** Puts a new key first and keeps the one before it; a relay uses it from its next start on. Returns its key id. */
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
  writeFileSync(path, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600, flag });
}

/** Another process on the same folder may be first; then its keys are ours. */
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
    const { keys } = JSON.parse(text) as { keys: PrivateJwk[] };
    for (const jwk of keys) {
      if (privateKeyOf(jwk).asymmetricKeyType !== 'ed25519') throw new TypeError('another kind of key');
    }
    return keys;
  } catch (error) {
    throw new Error(`${path} does not hold Ed25519 keys ({"keys": [private JWK]}): ${(error as Error).message}`);
  }
}
