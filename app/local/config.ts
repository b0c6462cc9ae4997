/** What `npm start` is told by its environment and options: the only reader of process.env in this process. */
import { resolve } from 'node:path';
import { Refusal } from '../sdk/wallet/refusal.ts';

export interface LocalConfig {
  /** DATA_DIR, default `.local`: absolute. Holds everything that must outlive a run. */
  dataDir: string;
  /** PORT, default 8787; 0 picks a free one. Of the API; other parts take free ports. */
  port: number;
  /** SOLANA_RPC_URL and SOLANA_WS_URL: the node to use instead of an embedded one; null without. */
  node: { rpcUrl: string; wsUrl: string } | null;
  /** --postgres: ledger and index in a PostgreSQL of its own, not in SQLite files. */
  postgres: boolean;
  /** Whether npm is our parent, and so the process that the person sees and stops. */
  startedByNpm: boolean;
}

const DEFAULT_PORT = 8787;

/** Parses the environment. Throws Refusal naming the variable that is wrong. */
export function readConfig(env: NodeJS.ProcessEnv, options: { postgres?: true }): LocalConfig {
  // An empty variable counts as unset, as shells and CI files often leave one behind. npm runs this in the package's
  // directory, where the default belongs; what a person wrote is meant from where they stood.
  return {
    dataDir: env.DATA_DIR ? resolve(env.INIT_CWD ?? process.cwd(), env.DATA_DIR) : resolve('.local'),
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
  // Solana's own convention: the WebSocket is on the next port where there is one, else on the same host.
  rpc.protocol = rpc.protocol === 'https:' ? 'wss:' : 'ws:';
  if (rpc.port) rpc.port = String(Number(rpc.port) + 1);
  return { rpcUrl, wsUrl: rpc.href };
}

function parseUrl(name: string, text: string, protocols: string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && protocols.includes(url.protocol)) return url;
  throw new Refusal(`${name} must be a URL that starts with ${protocols.join('// or ')}//, not ${text}`);
}
