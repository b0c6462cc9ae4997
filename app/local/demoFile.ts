/** `demo.json`: everything a program needs to use the running local network. It exists while the network runs. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, findTreasury, PROGRAM_ID, relayAuthoritiesOf } from '../sdk/program/program.ts';
import type { LocalChain } from './chain.ts';
import type { DemoCaller } from './identities.ts';

/** A running network. */
export interface LocalNetwork {
  /** Without a trailing slash. */
  baseUrl: string;
  chain: LocalChain;
  /** Null for SQLite files. */
  databaseUrl: string | null;
  config: Config;
  agents: {
    name: string;
    agentId: string;
    creator: string;
    signingKey: string;
    /** Base units. */
    price: bigint;
    isPaused: boolean;
  }[];
  callers: DemoCaller[];
}

export interface DemoFile {
  base_url: string;
  rpc_url: string;
  ws_url: string;
  program_id: string;
  usdc_mint: string;
  /** The token account that collects fees. */
  treasury: string;
  relay_authorities: string[];
  /** URL of the PostgreSQL of `--postgres`; null if ledger and index are files. */
  database_url: string | null;
  agents: { name: string; agent_id: string; creator: string; signing_key: string }[];
  callers: { wallet: string; keypair_path: string; api_key: string }[];
}

const pathIn = (dataDir: string): string => join(dataDir, 'demo.json');

/** Writes it atomically, readable by its owner only because it holds keys. */
export function writeDemoFile(dataDir: string, network: LocalNetwork): string {
  const { baseUrl, chain, databaseUrl, config, agents, callers } = network;
  const content: DemoFile = {
    base_url: baseUrl,
    rpc_url: chain.rpcUrl,
    ws_url: chain.wsUrl,
    program_id: PROGRAM_ID.toBase58(),
    usdc_mint: config.usdcMint.toBase58(),
    treasury: findTreasury().toBase58(),
    relay_authorities: relayAuthoritiesOf(config).map(String),
    database_url: databaseUrl,
    agents: agents.map(({ name, agentId, creator, signingKey }) => ({
      name,
      agent_id: agentId,
      creator,
      signing_key: signingKey,
    })),
    callers: callers.map(({ wallet, keypairPath, apiKey }) => ({
      wallet: wallet.publicKey.toBase58(),
      keypair_path: keypairPath,
      api_key: apiKey,
    })),
  };
  const path = pathIn(dataDir);
  const draft = `${path}.draft`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
  return path;
}

/** Removes it, so that a network that has ended, or is starting, does not look like a running one. */
export function removeDemoFile(dataDir: string): void {
  rmSync(pathIn(dataDir), { force: true });
}
