/** The indexer's settings, and the only place in its process that reads the environment. */
import { join } from 'node:path';
import { z } from 'zod';
import { databaseUrl } from '../app/database/postgres.ts';
import { describeSettings, readSettings } from '../app/process/settings.ts';
import { heliusUrls, readHelius } from '../app/solana/helius.ts';
import { nodesOf, urls } from '../app/solana/nodes.ts';

const settings = z.object({
  SOLANA_RPC_URL: urls('http://127.0.0.1:8899').describe('JSON-RPC URL of the Solana node'),
  SOLANA_WS_URL: urls('ws://127.0.0.1:8900').describe('WebSocket URL of the same node'),
  HELIUS_API_KEY: z.string().min(1).optional().describe('use Helius instead, and fill an empty index from its history'),
  HELIUS_URL: z.url().optional().describe('URL of Helius (default: that of the environment)'),
  ENVIRONMENT: z.enum(['test', 'live']).default('test').describe("live: Helius' mainnet; test: its devnet"),
  DATA_DIR: z.string().default('.local').describe('folder of index.db'),
  DATABASE_URL: databaseUrl.describe(
    'URL of a PostgreSQL database to use instead of index.db; the same for relays and indexers',
  ),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('lowest level of log lines'),
});

export type IndexerConfig = ReturnType<typeof readConfig>;

/** Settings from the environment. Throws one line for each variable that is missing or wrong. */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const env = readSettings(settings, environment);
  const helius = readHelius(env);
  return {
    /** `rpcUrl` is one URL, or several separated by commas: if one node fails, the next is asked. */
    ...(helius
      ? heliusUrls(helius)
      : { rpcUrl: env.SOLANA_RPC_URL, wsUrl: nodesOf(env.SOLANA_RPC_URL, env.SOLANA_WS_URL)[0].wsUrl }),
    /** Null for a plain node. */
    helius,
    /** Path of index.db, or the URL of a PostgreSQL. */
    path: env.DATABASE_URL ?? join(env.DATA_DIR, 'index.db'),
    logLevel: env.LOG_LEVEL,
  };
}

/** The variables, their defaults and meanings, for `--help`. */
export function describeConfig(): string {
  return describeSettings(settings);
}
