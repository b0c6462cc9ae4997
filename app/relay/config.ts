// The relay's settings, and the only place in its process that reads the environment.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { z } from 'zod';

const settings = z.object({
  ENVIRONMENT: z
    .enum(['test', 'live'])
    .default('test')
    .describe('live: mainnet, keys crtx_live_; test: devnet or a local network, keys crtx_test_'),
  SOLANA_RPC_URL: z.url().default('http://127.0.0.1:8899').describe('JSON-RPC address of the Solana node'),
  SOLANA_WS_URL: z.url().default('ws://127.0.0.1:8900').describe('WebSocket address of the same node'),
  PUBLIC_RPC_URL: z.url().optional().describe('RPC address in explorer links; default SOLANA_RPC_URL'),
  RELAY_KEYPAIR: z.string().min(1).describe('file of the relay authority, a JSON array of 64 bytes'),
  DATA_DIR: z.string().default('.local').describe('folder of ledger.db and index.db'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on'),
  PORT: z.coerce.number().int().min(0).max(65535).default(8787).describe('port to listen on; 0 picks one'),
  BASE_URL: z.url().optional().describe('public address in result links; default http://HOST:PORT'),
  ALLOW_PRIVATE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true lets creators be called over http and on private addresses; for a local network only'),
  EGRESS_IPS: z.string().default('').describe('comma-separated addresses that creators may allow-list'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('least severe log line'),
});

/** Everything the relay needs to know, parsed. */
export interface RelayConfig {
  environment: 'test' | 'live';
  rpcUrl: string;
  wsUrl: string;
  publicRpcUrl: string;
  authority: Keypair;
  dataDir: string;
  host: string;
  port: number;
  /** Null: derive it from the address that is listened on. */
  baseUrl: string | null;
  allowPrivateEndpoints: boolean;
  egressIps: string[];
  logLevel: string;
}

/** A keypair file as solana-keygen writes it. Throws with the path and the expected form. */
export function readKeypair(path: string): Keypair {
  try {
    return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(path, 'utf8'))));
  } catch (error) {
    throw new Error(`${path} is not a keypair file (a JSON array of 64 bytes): ${(error as Error).message}`);
  }
}

/** Settings from the environment. Throws one message that names every variable that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): RelayConfig {
  const parsed = settings.safeParse(environment);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const env = parsed.data;
  return {
    environment: env.ENVIRONMENT,
    rpcUrl: env.SOLANA_RPC_URL,
    wsUrl: env.SOLANA_WS_URL,
    publicRpcUrl: env.PUBLIC_RPC_URL ?? env.SOLANA_RPC_URL,
    authority: readKeypair(env.RELAY_KEYPAIR),
    dataDir: env.DATA_DIR,
    host: env.HOST,
    port: env.PORT,
    baseUrl: env.BASE_URL ?? null,
    allowPrivateEndpoints: env.ALLOW_PRIVATE_ENDPOINTS === 'true',
    egressIps: env.EGRESS_IPS.split(',').filter(Boolean),
    logLevel: env.LOG_LEVEL,
  };
}

/** The variables, their defaults and meanings, for `--help`. */
export function describeConfig(): string {
  return Object.entries(settings.shape)
    .map(([name, schema]) => `  ${name.padEnd(24)} ${schema.description ?? ''}`)
    .join('\n');
}

/** The two files in a data folder. */
export const ledgerPath = (dataDir: string) => join(dataDir, 'ledger.db');
export const indexPath = (dataDir: string) => join(dataDir, 'index.db');
