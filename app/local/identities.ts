/**
 * The participants of the local network: one keypair file per role in `DATA_DIR/demo`, made on the first start and
 * never deleted. So wallets, mint, agents and API keys stay the same, also on a new chain.
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
  /** Signs and pays for opens and settles. */
  relayAuthority: Keypair;
  relayAuthorityPath: string;
  /** Pays the network fees of x402 clients' payments. */
  x402FeePayer: Keypair;
  x402FeePayerPath: string;
  mintAuthority: Keypair;
  /** The mock USDC mint's own keypair, so that the mint has one address on every chain. */
  usdcMint: Keypair;
  /** `a` gets the verification badge. */
  creators: { a: Keypair; b: Keypair };
  callers: DemoCaller[];
}

/** Reads every key, and creates missing ones. */
export function loadIdentities(demoDir: string): Identities {
  mkdirSync(demoDir, { recursive: true, mode: 0o700 });
  const keypair = (name: string) => loadKeypair(join(demoDir, `${name}.json`));
  return {
    admin: keypair('admin'),
    relayAuthority: keypair('relay-authority'),
    relayAuthorityPath: join(demoDir, 'relay-authority.json'),
    x402FeePayer: keypair('x402-fee-payer'),
    x402FeePayerPath: join(demoDir, 'x402-fee-payer.json'),
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

/** Replaces a key whose grant has ended: a revoked or expired grant never becomes valid again. */
export function renewApiKey(caller: DemoCaller): DemoCaller {
  const apiKey = createApiKey('test');
  writeFileSync(caller.apiKeyPath, `${apiKey}\n`, { mode: 0o600 });
  return { ...caller, apiKey };
}

function loadKeypair(path: string): Keypair {
  if (!existsSync(path)) saveSigningKey(path, generateSigningKey());
  return Keypair.fromSecretKey(loadSigningKey(path), { skipValidation: true });
}

function loadApiKey(path: string): string {
  if (!existsSync(path)) writeFileSync(path, `${createApiKey('test')}\n`, { mode: 0o600 });
  const apiKey = readFileSync(path, 'utf8').trim();
  if (!parseApiKey(apiKey)) throw new Error(`${path} contains no API key. Delete the file to create a new key.`);
  return apiKey;
}
