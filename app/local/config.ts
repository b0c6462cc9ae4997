/** Settings of `npm start` from environment and options: the only reader of process.env in this process. */
import { resolve } from 'node:path';
import { Refusal } from '../sdk/wallet/refusal.ts';

export interface LocalConfig {
  /** DATA_DIR, default `.local`: absolute. Holds everything that must outlast a run. */
  dataDir: string;
  /** PORT, default 8787; 0 picks a free one. For the API only; other servers use free ports. */
  port: number;
  /** SOLANA_RPC_URL and SOLANA_WS_URL: the node to use instead of an embedded one; null if not set. */
  node: { rpcUrl: string; wsUrl: string } | null;
  /** --postgres: ledger and index in a local PostgreSQL instead of SQLite files. */
  postgres: boolean;
  /** True if npm is our parent, the process that the user sees and stops. */
  startedByNpm: boolean;
}

const DEFAULT_PORT = 8787;

/**
 * Absolute. npm runs us in the package's directory, which holds the default. A path from the user is relative to the
 * user's directory.
 */
export function readDataDir(env: NodeJS.ProcessEnv): string {
  return env.DATA_DIR ? resolve(env.INIT_CWD ?? process.cwd(), env.DATA_DIR) : resolve('.local');
}

/** Parses the environment. Throws Refusal naming the wrong variable. */
export function readConfig(env: NodeJS.ProcessEnv, options: { postgres?: true }): LocalConfig {
  // Shells and CI files often leave a variable empty, so an empty one counts as unset.
  return {
    dataDir: readDataDir(env),
    port: env.PORT ? parsePort(env.PORT) : DEFAULT_PORT,
    node: env.SOLANA_RPC_URL ? parseNode(env.SOLANA_RPC_URL, env.SOLANA_WS_URL) : null,
    postgres: options.postgres ?? false,
    startedByNpm: env.npm_lifecycle_event === 'start',
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65_535) throw new Refusal(`PORT must be a number from 0 to 65535, not ${text}`);
  return port;
}

function parseNode(rpcUrl: string, wsUrl: string | undefined): { rpcUrl: string; wsUrl: string } {
  const rpc = parseUrl('SOLANA_RPC_URL', rpcUrl, ['http:', 'https:']);
  if (wsUrl) {
    parseUrl('SOLANA_WS_URL', wsUrl, ['ws:', 'wss:']);
    return { rpcUrl, wsUrl };
  }
  // Solana's convention: the WebSocket is on the next port if the URL has a port, else on the same host.
  rpc.protocol = rpc.protocol === 'https:' ? 'wss:' : 'ws:';
  if (rpc.port) rpc.port = String(Number(rpc.port) + 1);
  return { rpcUrl, wsUrl: rpc.href };
}

function parseUrl(name: string, text: string, protocols: string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && protocols.includes(url.protocol)) return url;
  throw new Refusal(`${name} must be a URL that starts with ${protocols.join('// or ')}//, not ${text}`);
}
