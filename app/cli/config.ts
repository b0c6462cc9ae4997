/**
 * Finds the marketplace, the chain and the wallet if no option names them; the only reader of process.env in this
 * process. On a computer that runs `npm start`, its `demo.json` makes commands work without settings.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { checkedUrl } from '../sdk/wire/secrets.ts';

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
  MARKETPLACE_URL  base URL of the marketplace (--base-url). Default: the one in DATA_DIR/demo.json, which \`npm start\`
                   writes (DATA_DIR defaults to .local), or http://127.0.0.1:8787
  SOLANA_RPC_URL   JSON-RPC URL of a Solana node (--rpc-url). Default: the one that the marketplace names
  SOLANA_KEYPAIR   keypair file of the wallet (--keypair). Default: ~/.config/solana/id.json
If the marketplace is busy (503, 429) or the connection breaks, the CLI retries safe requests for up to 60 s.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 sent but outcome unknown (look up the signature).`;

const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';

export interface Settings {
  /** Without a trailing slash. */
  baseUrl: string;
  /** Null: ask the marketplace. */
  rpcUrl: string | null;
  /** Absolute. A missing file is reported when it is read. */
  keypairPath: string;
}

/** Takes the options' values, else the environment's, else the local network's, else defaults. */
export function readSettings(options: CommonOptions): Settings {
  const { env } = process;
  const baseUrl = options.baseUrl ?? env.MARKETPLACE_URL ?? readLocalNetwork()?.base_url ?? DEFAULT_BASE_URL;
  return {
    baseUrl: addressOf(baseUrl),
    rpcUrl: options.rpcUrl ?? env.SOLANA_RPC_URL ?? null,
    keypairPath: fromCaller(options.keypair ?? env.SOLANA_KEYPAIR ?? join(homedir(), '.config/solana/id.json')),
  };
}

function addressOf(baseUrl: string): string {
  try {
    return checkedUrl(baseUrl);
  } catch (error) {
    throw new Refusal((error as Error).message, { cause: error });
  }
}

/** Resolves a path from the user's directory: npm runs scripts in the package's directory. */
export function fromCaller(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path);
}

/** The fields of `demo.json`, written by `npm start`, that the CLI needs. */
export interface LocalNetworkFile {
  base_url: string;
  rpc_url: string;
  usdc_mint: string;
}

/** The data directory of the local network. The default is in the package's directory, where npm runs this process. */
export function localDirectory(): string {
  const { DATA_DIR } = process.env;
  return DATA_DIR ? fromCaller(DATA_DIR) : resolve('.local');
}

/** The local network that runs on this computer; null if there is none. */
export function readLocalNetwork(): LocalNetworkFile | null {
  const path = join(localDirectory(), 'demo.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}
