/**
 * The relay's settings. No other module of its process reads the environment. A file of config/ declares each setting
 * once, with its parser, default and description, and says where it goes.
 */
import type { Keypair } from '@solana/web3.js';
import { z } from 'zod';
import { describeSettings, readSettings } from '../process/settings.ts';
import { heliusUrls, readHelius } from '../solana/helius.ts';
import { nodesOf } from '../solana/nodes.ts';
import { clusterSettings, readCluster } from './config/cluster.ts';
import { fundsSettings, readFunds } from './config/funds.ts';
import { readServer, serverSettings } from './config/server.ts';
import { backupDirOf, readStorage, storageSettings } from './config/storage.ts';
import type { BackupSettings } from './ledger/backup.ts';

const settings = z.object({ ...clusterSettings, ...fundsSettings, ...serverSettings, ...storageSettings });

/** All settings of the relay, parsed. */
export type RelayConfig = ReturnType<typeof readConfig>;

/** Reads settings from the environment. Throws one line for each variable that is missing or wrong. */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const env = readSettings(settings, environment);
  return {
    ...readCluster(env),
    ...readFunds(env),
    ...readServer(env, env.DATA_DIR),
    ...readStorage(env),
    /** Demo users for the page, given to this computer only. Null except on a local network. */
    developmentWallets: null as { name: string; keypair: Keypair }[] | null,
  };
}

export type ToolConfig = ReturnType<typeof readToolConfig>;

/** Throws like `readConfig`. */
export function readToolConfig(environment: NodeJS.ProcessEnv) {
  const { SOLANA_RPC_URL, HELIUS_API_KEY, HELIUS_URL, ENVIRONMENT } = clusterSettings;
  const { DATA_DIR, DATABASE_URL, BACKUP_DIR, BACKUP_KEEP, BACKUP_COMMAND, MIN_FREE_BYTES } = storageSettings;
  const node = { SOLANA_RPC_URL, HELIUS_API_KEY, HELIUS_URL, ENVIRONMENT };
  const places = { DATA_DIR, DATABASE_URL, BACKUP_DIR, BACKUP_KEEP, BACKUP_COMMAND, MIN_FREE_BYTES };
  const env = readSettings(z.object({ ...node, ...places }), environment);
  const helius = readHelius(env);
  return {
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL ?? null,
    rpcUrl: helius ? heliusUrls(helius).rpcUrl : nodesOf(env.SOLANA_RPC_URL, '')[0].rpcUrl,
    backup: {
      dir: backupDirOf(env),
      keep: env.BACKUP_KEEP,
      command: env.BACKUP_COMMAND ?? null,
      environment,
      minFreeBytes: env.MIN_FREE_BYTES,
    } satisfies BackupSettings,
    /** The folder of the user's shell, for relative paths on the command line; npm runs its scripts in another. */
    workingFolder: environment.INIT_CWD ?? process.cwd(),
  };
}

/** The variables with defaults and meanings, for `--help`. */
export function describeConfig(): string {
  return describeSettings(settings);
}

export { readKeypair, USUAL_SERVICE_FEE } from './config/funds.ts';
export { indexPath, ledgerPath } from './ledger/open.ts';
