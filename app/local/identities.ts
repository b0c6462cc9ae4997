/**
 * Who takes part in the local network: one keypair file for each role in `DATA_DIR/demo`, made on the first start and
 * kept for ever, so that wallets, mint, agents and API keys are the same after each start, also on a fresh chain.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { generateSigningKey, loadSigningKey, saveSigningKey } from '../sdk/creator/signingKey.ts';
import { createApiKey, parseApiKey } from '../sdk/receipt/apiKey.ts';

export interface DemoCaller {
  wallet: Keypair;
  keypairPath: string;
  apiKey: string;
  apiKeyPath: string;
}

export interface Identities {
  /** Upgrade authority of the program and admin of the marketplace. */
  admin: Keypair;
  /** Signs opens and settles, and pays for them. */
  relayAuthority: Keypair;
  mintAuthority: Keypair;
  /** The mock USDC mint's own keypair, so that the mint has one address on every chain. */
  usdcMint: Keypair;
  /** `a` gets the verification badge. */
  creators: { a: Keypair; b: Keypair };
  callers: DemoCaller[];
}

/** Reads every key, and makes those that are missing. */
export function loadIdentities(demoDir: string): Identities {
  mkdirSync(demoDir, { recursive: true, mode: 0o700 });
  const keypair = (name: string) => loadKeypair(join(demoDir, `${name}.json`));
  return {
    admin: keypair('admin'),
    relayAuthority: keypair('relay-authority'),
    mintAuthority: keypair('mint-authority'),
    usdcMint: keypair('usdc-mint'),
    creators: { a: keypair('creator-a'), b: keypair('creator-b') },
    callers: ['caller-1', 'caller-2'].map((name) => {
      const apiKeyPath = join(demoDir, `${name}.api-key`);
      const apiKey = loadApiKey(apiKeyPath);
      return { wallet: keypair(name), keypairPath: join(demoDir, `${name}.json`), apiKey, apiKeyPath };
    }),
  };
}

/** Replaces a key whose grant has ended: a grant, once revoked or expired, never lives again. */
export function renewApiKey(caller: DemoCaller): DemoCaller {
  const apiKey = createApiKey('test');
  writeFileSync(caller.apiKeyPath, `${apiKey}\n`, { mode: 0o600 });
  return { ...caller, apiKey };
}

function loadKeypair(path: string): Keypair {
  if (!existsSync(path)) saveSigningKey(path, generateSigningKey());
  return Keypair.fromSecretKey(loadSigningKey(path));
}

function loadApiKey(path: string): string {
  if (!existsSync(path)) writeFileSync(path, `${createApiKey('test')}\n`, { mode: 0o600 });
  const apiKey = readFileSync(path, 'utf8').trim();
  if (!parseApiKey(apiKey)) throw new Error(`${path} does not hold an API key; remove it to have another one made`);
  return apiKey;
}
