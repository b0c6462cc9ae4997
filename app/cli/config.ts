/**
 * Where the CLI finds the marketplace, the chain and the wallet when no option says so: the only reader of process.env
 * in this process. On a computer that runs `npm start`, its `demo.json` makes every command work without settings.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Options that every command takes, as given on the command line. */
export interface CommonOptions {
  baseUrl?: string;
  rpcUrl?: string;
  keypair?: string;
}

/** For `--help`. */
export const ENVIRONMENT_HELP = `
Environment:
  MARKETPLACE_URL  base URL of the marketplace (--base-url)
  SOLANA_RPC_URL   JSON-RPC URL of the Solana node (--rpc-url)
  SOLANA_KEYPAIR   the wallet's keypair file (--keypair); else ~/.config/solana/id.json
  DATA_DIR         directory of a local marketplace, default .local; where neither option nor variable names the
                   URLs, they are those of the demo.json that \`npm start\` wrote there
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`;

const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';
const DEFAULT_RPC_URL = 'http://127.0.0.1:8899';

export interface Settings {
  /** Without a trailing slash. */
  baseUrl: string;
  rpcUrl: string;
  /** Absolute; whether it exists is found out when it is read. */
  keypairPath: string;
}

/** The options' values, else the environment's, else the local network's, else defaults. */
export function readSettings(options: CommonOptions): Settings {
  const { env } = process;
  const demo = readDemo(env.DATA_DIR);
  return {
    baseUrl: (options.baseUrl ?? env.MARKETPLACE_URL ?? demo.base_url ?? DEFAULT_BASE_URL).replace(/\/+$/, ''),
    rpcUrl: options.rpcUrl ?? env.SOLANA_RPC_URL ?? demo.rpc_url ?? DEFAULT_RPC_URL,
    keypairPath: fromCaller(options.keypair ?? env.SOLANA_KEYPAIR ?? join(homedir(), '.config/solana/id.json')),
  };
}

/** A path as its writer meant it: npm runs scripts in the package's directory, wherever the person stood. */
export function fromCaller(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path);
}

function readDemo(dataDir = '.local'): { base_url?: string; rpc_url?: string } {
  const path = join(fromCaller(dataDir), 'demo.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}
