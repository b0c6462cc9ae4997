/**
 * Where the CLI finds the marketplace, the chain and the wallet when no option says so: the only reader of process.env
 * in this process. On a computer that runs `npm start`, its `demo.json` makes commands work without settings.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Options that every command takes, as given on the command line. */
export interface CommonOptions {
  baseUrl?: string;
  rpcUrl?: string;
  keypair?: string;
  json?: boolean;
}

/** For `--help`. */
export const ENVIRONMENT_HELP = `
Environment:
  MARKETPLACE_URL  base URL of the marketplace (--base-url); else that of DATA_DIR/demo.json, which \`npm start\`
                   writes (DATA_DIR is .local unless set); else http://127.0.0.1:8787
  SOLANA_RPC_URL   JSON-RPC URL of a Solana node (--rpc-url); else the one that the marketplace names
  SOLANA_KEYPAIR   file of the wallet's keypair (--keypair); else ~/.config/solana/id.json
A marketplace that is busy (503, 429) or breaks off is asked again for up to 60 s where that is safe.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 sent but outcome unknown: look the signature up.`;

const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';

export interface Settings {
  /** Without a trailing slash. */
  baseUrl: string;
  /** Null: ask the marketplace. */
  rpcUrl: string | null;
  /** Absolute; whether the file exists is found out when it is read. */
  keypairPath: string;
}

/** The options' values, else the environment's, else the local network's, else defaults. */
export function readSettings(options: CommonOptions): Settings {
  const { env } = process;
  const baseUrl = options.baseUrl ?? env.MARKETPLACE_URL ?? readLocalNetwork()?.base_url ?? DEFAULT_BASE_URL;
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    rpcUrl: options.rpcUrl ?? env.SOLANA_RPC_URL ?? null,
    keypairPath: fromCaller(options.keypair ?? env.SOLANA_KEYPAIR ?? join(homedir(), '.config/solana/id.json')),
  };
}

/** A path as its writer meant it: npm runs scripts in the package's directory, wherever the person stood. */
export function fromCaller(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path);
}

/** What `npm start` writes about the network that it runs, as far as it is needed here. */
export interface LocalNetworkFile {
  base_url: string;
  rpc_url: string;
  usdc_mint: string;
}

/** Where the local network keeps its data. The default is in the package's directory, where npm runs us. */
export function localDirectory(): string {
  const { DATA_DIR } = process.env;
  return DATA_DIR ? fromCaller(DATA_DIR) : resolve('.local');
}

/** The local network that runs on this computer; null where none does. */
export function readLocalNetwork(): LocalNetworkFile | null {
  const path = join(localDirectory(), 'demo.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}
