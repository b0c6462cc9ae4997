/** The indexer's settings, and the only place in its process that reads the environment. */
import { join } from 'node:path';
import { z } from 'zod';
import { type HeliusOptions, heliusUrls, readHelius } from './helius.ts';

const settings = z.object({
  SOLANA_RPC_URL: z.url().default('http://127.0.0.1:8899').describe('JSON-RPC address of the Solana node'),
  SOLANA_WS_URL: z.url().default('ws://127.0.0.1:8900').describe('WebSocket address of the same node'),
  HELIUS_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('reach the chain through Helius instead, and fill an empty index from its history'),
  HELIUS_URL: z.url().optional().describe('address of Helius; default that of the environment'),
  ENVIRONMENT: z.enum(['test', 'live']).default('test').describe("live: Helius' mainnet; test: its devnet"),
  DATA_DIR: z.string().default('.local').describe('folder of index.db'),
  INDEX_DB: z.string().optional().describe('path of index.db; default DATA_DIR/index.db'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('least severe log line'),
});

export interface IndexerConfig {
  rpcUrl: string;
  wsUrl: string;
  /** Null: the node is a plain one. */
  helius: HeliusOptions | null;
  /** Path of index.db. */
  path: string;
  logLevel: string;
}

/** Settings from the environment. Throws one message that names every variable that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): IndexerConfig {
  const parsed = settings.safeParse(environment);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const env = parsed.data;
  const helius = readHelius(env);
  return {
    ...(helius ? heliusUrls(helius) : { rpcUrl: env.SOLANA_RPC_URL, wsUrl: env.SOLANA_WS_URL }),
    helius,
    path: env.INDEX_DB ?? join(env.DATA_DIR, 'index.db'),
    logLevel: env.LOG_LEVEL,
  };
}

/** The variables and their meanings, for `--help`. */
export function describeConfig(): string {
  return Object.entries(settings.shape)
    .map(([name, schema]) => `  ${name.padEnd(16)} ${schema.description ?? ''}`)
    .join('\n');
}
