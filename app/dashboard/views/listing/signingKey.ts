/** A listing's signing key in the page: in memory only, never sent. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { encodeSigningKey, parseSigningKey } from '../../../sdk/receipt/signingKeyFile.ts';
import type { SigningKey } from '../../../sdk/wallet/upkeep.ts';
import { saveFile } from '../../parts/values.tsx';
import { loadChainModules } from '../../wallet/chain.ts';

export type HeldKey =
  | { kind: 'secret'; address: string; secret: Uint8Array; isSaved: boolean }
  | { kind: 'proof'; address: string; possession: Uint8Array };

const addressOf = (secret: Uint8Array): string => bs58.encode(secret.subarray(32));

/** A new key, which exists only in this page until it is saved. */
export function makeKey(): HeldKey {
  const secret = nacl.sign.keyPair().secretKey;
  return { kind: 'secret', address: addressOf(secret), secret, isSaved: false };
}

/** The name of the downloaded key file of an agent. */
export function keyFileName(agentName: string): string {
  const name = agentName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${name || 'agent'}-signing-key.json`;
}

/** Downloads the key as the file that creators' servers read. */
export function saveKey(key: HeldKey & { kind: 'secret' }, agentName: string): HeldKey {
  saveFile(keyFileName(agentName), encodeSigningKey(key.secret));
  return { ...key, isSaved: true };
}

/** The key in a creator's file. Throws if the file contains none. */
export async function readKeyFile(file: File): Promise<HeldKey> {
  const secret = parseSigningKey(new Uint8Array(await file.arrayBuffer()), file.name);
  return { kind: 'secret', address: addressOf(secret), secret, isSaved: true };
}

/** Reads a public key (base58) and its proof (hex or base58). Throws unless key, proof and listing match. */
export async function readProof(publicKey: string, proof: string, agentId: string): Promise<HeldKey> {
  const { PublicKey, proveSigningKey } = await loadChainModules();
  const text = proof.trim();
  const possession = /^[0-9a-fA-F]{128}$/.test(text) ? hexToBytes(text) : bs58.decodeUnsafe(text);
  if (!possession) throw new Error('The proof must be a signature of 64 bytes, in hex or base58.');
  const bytes = bs58.decodeUnsafe(publicKey.trim());
  if (bytes?.length !== 32) throw new Error('The public key must be a base58 address of 32 bytes.');
  const key = { publicKey: new PublicKey(bytes), possession: Uint8Array.from(possession) };
  proveSigningKey(new PublicKey(agentId), key);
  return { kind: 'proof', address: key.publicKey.toBase58(), possession: key.possession };
}

/** Converts a key for the wallet library. */
export async function toSigningKey(key: HeldKey): Promise<SigningKey> {
  if (key.kind === 'secret') return key.secret;
  const { PublicKey } = await loadChainModules();
  return { publicKey: new PublicKey(key.address), possession: key.possession };
}

/** The message, as hex, that a key signs to prove that its holder agrees to this listing. */
export async function proofMessage(agentId: string): Promise<string> {
  const { program, PublicKey } = await loadChainModules();
  return bytesToHex(program.registerMessage(new PublicKey(agentId)));
}

/** A command that signs such a message with the key file of an agent, using only Node. */
export const proofCommand = (message: string, agentName: string): string =>
  [
    "node -e '",
    'const { createPrivateKey, sign } = require("node:crypto");',
    'const [file, message] = process.argv.slice(1);',
    'const seed = Buffer.from(JSON.parse(require("node:fs").readFileSync(file, "utf8"))).subarray(0, 32);',
    'const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);',
    'const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });',
    'console.log(sign(null, Buffer.from(message, "hex"), key).toString("hex"));',
    `' ${keyFileName(agentName)} ${message}`,
  ].join('\n');
