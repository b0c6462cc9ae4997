/** The relay's settings. No other module of its process reads the environment. */
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { z } from 'zod';
import { databaseUrl } from '../database/postgres.ts';
import { describeSettings, readSettings } from '../process/settings.ts';
import { loadSigningKey } from '../sdk/creator/signingKey.ts';
import { constants } from '../sdk/program/program.ts';
import { formatUsdc, isUsdc, parseUsdc } from '../sdk/wire/usdc.ts';
import { type HeliusOptions, heliusUrls, readHelius } from '../solana/helius.ts';
import { type NodeUrls, nodesOf, urls } from '../solana/nodes.ts';
import type { PublicRate } from './access/publicLimit.ts';
import type { KeepingSettings } from './execution/keeping.ts';
import type { BackupSettings } from './ledger/backup.ts';
import type { RevocationBudget } from './ledger/revocations.ts';
import type { RunwayLimits } from './operation/runway.ts';
import type { ObjectSettings } from './outbound/resultObjects.ts';
import type { SweepSettings } from './sweeper/sweeper.ts';

const lamports = (usual: bigint) =>
  z.coerce
    .bigint()
    .min(0n)
    .max(2n ** 53n)
    .default(usual);

/**
 * Micro-lamports per compute unit. A settle of 60,000 units pays 600 lamports, an eighth of its signature fee. It then
 * lands before transactions without a priority fee.
 */
const LIVE_PRIORITY_FEE = 10_000n;

/** Base units. Without priority fees and at 100 USDC a SOL, 1.5 times the cost of an x402 call are 4,155. */
export const USUAL_SERVICE_FEE = { least: 5_000n, solPrice: 100_000_000n };
const SERVICE_FEE_RULE = `must be at most ${formatUsdc(constants.maxServiceFee)}, with up to 6 decimals`;

/** Time between two readings of the relay's SOL. A sensible balance does not run out within it. */
const RUNWAY_LOOK_SECONDS = 30;

/** Longer than a signed transaction can still land, and than most pauses between calls of a deployment in use. */
export const USUAL_SILENCE_SECONDS = 120;

/** Maximum size of results, and how long and where they are kept. */
export interface ResultSettings extends KeepingSettings {
  /** Bytes of a result for each cent of its price. */
  bytesPerCent: number;
  /** Null: all results stay in the ledger. */
  objects: ObjectSettings | null;
}

/** The defaults for results. */
export const USUAL_RESULTS: ResultSettings = {
  bytesPerCent: 65_536,
  retentionDays: 30,
  objectBytes: 65_536,
  objects: null,
};

/** Other URLs cannot be shown to callers, or be the base of links. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

const settings = z.object({
  ENVIRONMENT: z
    .enum(['test', 'live'])
    .default('test')
    .describe('live: mainnet, keys crtx_live_; test: devnet or a local network, keys crtx_test_'),
  SOLANA_RPC_URL: urls('http://127.0.0.1:8899').describe(
    'JSON-RPC URL of the Solana node. Several URLs, separated by commas: if one fails, the next is used; reads that decide about money ask two',
  ),
  SOLANA_WS_URL: urls('ws://127.0.0.1:8900').describe(
    'WebSocket URL of the same node, or of each node in the same order',
  ),
  HELIUS_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('use Helius instead of SOLANA_RPC_URL and SOLANA_WS_URL, and ask it for priority fees'),
  HELIUS_URL: z
    .url()
    .optional()
    .describe('URL of Helius (default: https://mainnet.helius-rpc.com/ for live, devnet.helius-rpc.com for test)'),
  MAX_PRIORITY_FEE_LAMPORTS: z.coerce
    .bigint()
    .min(0n)
    .default(100_000n)
    .describe(
      'maximum priority fee of one transaction, lamports, in addition to the fee for signatures; 0: no priority fees',
    ),
  MIN_PRIORITY_FEE_MICROLAMPORTS: z.coerce
    .bigint()
    .min(0n)
    .max(2n ** 53n)
    .optional()
    .describe('lowest priority fee, micro-lamports per compute unit (default: 10000 for live, 0 for test)'),
  EDGE_RPC_PER_SECOND: z.coerce
    .number()
    .int()
    .min(1)
    .default(20)
    .describe('maximum average of chain reads per second for unpaid requests: keys, pages, readiness'),
  PUBLIC_RPC_URL: z.url().optional().describe('RPC URL that callers are shown (default: the origin of SOLANA_RPC_URL)'),
  RELAY_KEYPAIR: z.string().min(1).describe('keypair file of the relay authority, a JSON array of 64 bytes'),
  X402_FEE_PAYER_KEYPAIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'keypair file of the fee payer of x402 payments, the same for all relays on a ledger and never a relay authority; without it x402 payments are refused',
    ),
  X402_SERVICE_FEE_USDC: z.coerce
    .number()
    .refine((value) => isUsdc(value) && parseUsdc(value) <= constants.maxServiceFee, SERVICE_FEE_RULE)
    .default(Number(formatUsdc(USUAL_SERVICE_FEE.least)))
    .describe(
      'lowest fee that an x402 client pays in addition to the price, USDC; it is raised to 1.5 times the network fees of such a call',
    ),
  X402_SOL_PRICE_USDC: z.coerce
    .number()
    .refine((value) => isUsdc(value) && value > 0, 'must be above 0, with up to 6 decimals')
    .default(Number(formatUsdc(USUAL_SERVICE_FEE.solPrice)))
    .describe('price of a SOL that the fee of x402 clients is computed with, USDC; better too high than too low'),
  X402_MIN_LAMPORTS: z.coerce
    .number()
    .int()
    .min(0)
    .default(2_000_000)
    .describe(
      'minimum balance of the x402 fee payer, lamports; below it no quotes are given; a payment costs 10001 lamports',
    ),
  AUTHORITY_SILENCE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(86_400)
    .default(USUAL_SILENCE_SECONDS)
    .describe(
      'if another deployment signs with the relay authority, new executions are refused until it has stopped for this time; 0: no check',
    ),
  DATA_DIR: z.string().default('.local').describe('folder of ledger.db and index.db'),
  DATABASE_URL: databaseUrl.describe(
    'URL of a PostgreSQL database to use instead of ledger.db and index.db; the same for relays and indexers',
  ),
  HOST: z.string().default('127.0.0.1').describe('IP address to listen on'),
  PORT: z.coerce.number().int().min(0).max(65535).default(8787).describe('port to listen on; 0 picks a free one'),
  BASE_URL: z
    .string()
    .refine(isPublicUrl, {
      error: 'must be https://HOST or http://HOST:PORT, without user, password, query and fragment',
    })
    // Links append their paths, which begin with a slash.
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('public URL in result links (default: http://HOST:PORT)'),
  CALL_KEYS: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file of the keys that sign calls to creators; created if it does not exist (default: DATA_DIR/call-keys.json)',
    ),
  ALLOW_PRIVATE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: creators may be called over http and at private addresses; only for a local network'),
  LENT_LAMPORTS: z.coerce
    .bigint()
    .min(0n)
    .max(2n ** 52n)
    .optional()
    .describe(
      'refundable deposits that you lend to calls at the same time, lamports; calls with keys and x402 clients get at most three quarters each (default, and never more: the balance of the relay authority less twice MIN_FEE_PAYER_LAMPORTS)',
    ),
  SPONSOR: z
    .enum(['none', 'all'])
    .default('none')
    .describe(
      'none: a call’s network fees come from its wallet’s gas balance. all: you pay all fees and deposits that a gas balance does not pay, within LENT_LAMPORTS; only for a local network, or if you want to give',
    ),
  REVOKE_LAMPORTS_PER_WALLET_DAY: lamports(100_000n).describe(
    'network fees for revoking keys of one wallet on-chain in 24 hours, lamports; beyond it the wallet must revoke them itself',
  ),
  REVOKE_LAMPORTS_PER_DAY: lamports(5_000_000n).describe('the same for all wallets, lamports'),
  TRUST_PROXY: z.coerce
    .number()
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe('number of your proxies in front of the relay; 0: the address of a client is that of its connection'),
  PUBLIC_RATE_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(50)
    .describe(
      'requests per second from one IP address (see TRUST_PROXY) without an API key or a session of a wallet that has paid or has a listing; 0: no limit',
    ),
  PUBLIC_RATE_BURST: z.coerce
    .number()
    .int()
    .min(0)
    .default(200)
    .describe('additional such requests that one IP address may send in a burst, every ten seconds'),
  REFUSE_AFTER: z.coerce
    .number()
    .int()
    .min(0)
    .max(50)
    .default(0)
    .describe('failures of an agent in a row after which its new executions are refused; 0: never'),
  PROBE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(30)
    .describe('time between probes of an agent whose executions are refused'),
  EGRESS_IPS: z.string().default('').describe('IP addresses that calls to creators come from, separated by commas'),
  SHUTDOWN_SECONDS: z.coerce
    .number()
    .min(1)
    .max(600)
    .default(10)
    .describe('maximum time to stop: executions that are nearly done end, the others continue after the next start'),
  LEAVE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(60)
    .default(0)
    .describe(
      'part of SHUTDOWN_SECONDS in which a stopping relay still accepts executions, while /ready is 503 and proxies switch to another relay',
    ),
  MIN_RUNWAY_HOURS: z.coerce
    .number()
    .min(0)
    .default(1)
    .describe(
      'new executions are refused if the SOL of the relay authority lasts for less than this at the present rate; 0: never',
    ),
  MIN_FEE_PAYER_LAMPORTS: z.coerce
    .number()
    .int()
    .min(0)
    .default(50_000_000)
    .describe(
      'minimum balance of the relay authority, lamports; below it new executions are refused, because the rest must pay to settle and refund open ones',
    ),
  MIN_FREE_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(256 * 1_024 * 1_024)
    .describe(
      'new executions are refused if the file system of DATA_DIR has less free space; 0, and always with DATABASE_URL: only after a write failed for lack of space',
    ),
  ARCHIVE: z
    .enum(['on', 'existing', 'off'])
    .default('on')
    .describe(
      'on: ended records are archived and their refundable deposits returned; the relay authority pays for the trees, 0.56 SOL at 5,080 lamports a byte for a million records. existing: archive only into trees that exist. off: no archiving',
    ),
  ARCHIVE_WAIT_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(600)
    .describe('maximum time that a record waits to be archived with others, because twelve share a fee'),
  RESULT_BYTES_PER_CENT: z.coerce
    .number()
    .int()
    .min(1_024)
    .default(USUAL_RESULTS.bytesPerCent)
    .describe('largest result for each cent of the price, bytes; at most 5 MiB in total'),
  RESULT_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(7)
    .max(36_500)
    .default(USUAL_RESULTS.retentionDays)
    .describe(
      'how long results are kept; disputed ones at least until the dispute ends. Their hashes are kept permanently',
    ),
  S3_ENDPOINT: z.url().optional().describe('URL of an S3-compatible storage for large results; needs all of S3_*'),
  S3_BUCKET: z.string().min(1).optional().describe('bucket, which must exist'),
  S3_REGION: z.string().min(1).default('us-east-1').describe('region for the signatures of requests'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('access key id'),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('secret access key'),
  S3_RESULT_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(USUAL_RESULTS.objectBytes)
    .describe('results of at least this many bytes are stored there instead of in the ledger'),
  BACKUP_DIR: z.string().min(1).optional().describe('folder of backups of the ledger (default: DATA_DIR/backups)'),
  BACKUP_KEEP: z.coerce.number().int().min(1).default(7).describe('number of the newest backups kept in BACKUP_DIR'),
  BACKUP_COMMAND: z
    .string()
    .min(1)
    .optional()
    .describe('shell command after each backup, to copy BACKUP_DIR to another machine; $BACKUP_FILE is the new backup'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('bearer token for /metrics; without it only this computer may read /metrics'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('lowest level of log lines'),
});

/** All settings of the relay, parsed. */
export interface RelayConfig {
  environment: 'test' | 'live';
  rpcUrl: string;
  wsUrl: string;
  /** Used if the first fails, and to confirm reads that decide about money. */
  moreNodes: NodeUrls[];
  /** Null for a plain node. */
  helius: HeliusOptions | null;
  maxPriorityFeeLamports: bigint;
  /** Micro-lamports per compute unit. */
  minPriorityFee: bigint;
  /** Average reads of the chain per second for requests that nobody pays for. */
  edgeRpcPerSecond: number;
  publicRpcUrl: string;
  authority: Keypair;
  /** Fee payer, and what the service fee follows from (base units), for x402 clients. Null: their payments are not accepted. */
  x402: { feePayer: Keypair; serviceFee: { least: bigint; solPrice: bigint }; minLamports: number } | null;
  /** Required silence of another deployment with this authority, seconds. 0 turns the check off. */
  authoritySilenceSeconds: number;
  dataDir: string;
  /** Null: SQLite files in `dataDir`. */
  databaseUrl: string | null;
  host: string;
  port: number;
  /** Null: derived from the listening address. */
  baseUrl: string | null;
  /** File of the keys that sign calls to creators. */
  callKeysPath: string;
  allowPrivateEndpoints: boolean;
  /** Failures in a row until an agent is refused (0 for never), and seconds between its probes. */
  degraded: { refuseAfter: number; probeSeconds: number };
  egressIps: string[];
  /** The operator pays all that the gas balances do not. */
  sponsorsAll: boolean;
  /** Rent that may be lent at once, lamports; null for all that the balance allows. */
  lentLamports: bigint | null;
  /** The budget to revoke keys. */
  revocations: RevocationBudget;
  /** Number of trusted proxies that append to X-Forwarded-For. */
  trustProxy: number;
  /** Rate limit per address, for requests without a key or session of a known wallet. */
  publicRate: PublicRate;
  /** Total time for `stop`. */
  shutdownSeconds: number;
  /** Less than `shutdownSeconds`. */
  leaveSeconds: number;
  /** New executions are refused below either limit. */
  runway: RunwayLimits;
  /** New executions are refused below this free space. 0: only after a write failed for lack of space. */
  minFreeBytes: number;
  archive: SweepSettings;
  results: ResultSettings;
  /** Folder of the ledger's backups, which may not exist. */
  backupDir: string;
  metricsToken: string | null;
  /** Demo users for the page, given to this computer only. Null except on a local network. */
  developmentWallets: { name: string; keypair: Keypair }[] | null;
  logLevel: string;
}

/** A keypair file in solana-keygen's format. Throws with the path and the expected format, and shows no key. */
export function readKeypair(path: string): Keypair {
  try {
    return Keypair.fromSecretKey(loadSigningKey(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === undefined ? message : `${path} is not a keypair file (a JSON array of 64 bytes): ${message}`,
    );
  }
}

/** Reads settings from the environment. Throws one line for each variable that is missing or wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): RelayConfig {
  const env = readSettings(settings, environment);
  const helius = readHelius(env);
  const [{ rpcUrl, wsUrl }, ...moreNodes] = nodesOf(env.SOLANA_RPC_URL, env.SOLANA_WS_URL);
  if (env.LEAVE_SECONDS >= env.SHUTDOWN_SECONDS) throw new Error('LEAVE_SECONDS must be less than SHUTDOWN_SECONDS');
  return {
    environment: env.ENVIRONMENT,
    ...(helius ? { ...heliusUrls(helius), moreNodes: [] } : { rpcUrl, wsUrl, moreNodes }),
    helius,
    maxPriorityFeeLamports: env.MAX_PRIORITY_FEE_LAMPORTS,
    minPriorityFee: env.MIN_PRIORITY_FEE_MICROLAMPORTS ?? (env.ENVIRONMENT === 'live' ? LIVE_PRIORITY_FEE : 0n),
    edgeRpcPerSecond: env.EDGE_RPC_PER_SECOND,
    // Providers put their customers' keys into path, query or user name, and everybody sees this address.
    publicRpcUrl: env.PUBLIC_RPC_URL ?? new URL(rpcUrl).origin,
    authority: readKeypair(env.RELAY_KEYPAIR),
    x402: env.X402_FEE_PAYER_KEYPAIR
      ? {
          feePayer: readKeypair(env.X402_FEE_PAYER_KEYPAIR),
          serviceFee: {
            least: parseUsdc(env.X402_SERVICE_FEE_USDC),
            solPrice: parseUsdc(env.X402_SOL_PRICE_USDC),
          },
          minLamports: env.X402_MIN_LAMPORTS,
        }
      : null,
    authoritySilenceSeconds: env.AUTHORITY_SILENCE_SECONDS,
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL ?? null,
    host: env.HOST,
    port: env.PORT,
    baseUrl: env.BASE_URL ?? null,
    callKeysPath: env.CALL_KEYS ?? callKeysPath(env.DATA_DIR),
    allowPrivateEndpoints: env.ALLOW_PRIVATE_ENDPOINTS === 'true',
    degraded: { refuseAfter: env.REFUSE_AFTER, probeSeconds: env.PROBE_SECONDS },
    egressIps: env.EGRESS_IPS.split(',').filter(Boolean),
    sponsorsAll: env.SPONSOR === 'all',
    lentLamports: env.LENT_LAMPORTS ?? null,
    revocations: { wallet: env.REVOKE_LAMPORTS_PER_WALLET_DAY, total: env.REVOKE_LAMPORTS_PER_DAY },
    trustProxy: env.TRUST_PROXY,
    publicRate: { perSecond: env.PUBLIC_RATE_PER_SECOND, burst: env.PUBLIC_RATE_BURST },
    shutdownSeconds: env.SHUTDOWN_SECONDS,
    leaveSeconds: env.LEAVE_SECONDS,
    runway: {
      minHours: env.MIN_RUNWAY_HOURS,
      minLamports: env.MIN_FEE_PAYER_LAMPORTS,
      lookSeconds: RUNWAY_LOOK_SECONDS,
    },
    minFreeBytes: env.MIN_FREE_BYTES,
    archive: { mode: env.ARCHIVE, waitSeconds: env.ARCHIVE_WAIT_SECONDS },
    results: {
      bytesPerCent: env.RESULT_BYTES_PER_CENT,
      retentionDays: env.RESULT_RETENTION_DAYS,
      objectBytes: env.S3_RESULT_BYTES,
      objects: readObjectSettings(env),
    },
    backupDir: env.BACKUP_DIR ?? backupPath(env.DATA_DIR),
    metricsToken: env.METRICS_TOKEN ?? null,
    developmentWallets: null,
    logLevel: env.LOG_LEVEL,
  };
}

function readObjectSettings(env: z.infer<typeof settings>): ObjectSettings | null {
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = env;
  const given = { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY };
  const missing = Object.entries(given).filter(([, value]) => value === undefined);
  if (missing.length === Object.keys(given).length) return null;
  if (missing.length > 0) {
    throw new Error(`S3_ENDPOINT is set, so these are needed too: ${missing.map(([name]) => name).join(', ')}`);
  }
  return {
    endpoint: S3_ENDPOINT!,
    bucket: S3_BUCKET!,
    region: env.S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID!,
    secretAccessKey: S3_SECRET_ACCESS_KEY!,
  };
}

/** The settings of the commands besides the relay itself, which need no key. */
export interface ToolConfig {
  dataDir: string;
  databaseUrl: string | null;
  rpcUrl: string;
  backup: BackupSettings;
  /** The folder of the user's shell, for relative paths on the command line; npm runs its scripts in another. */
  workingFolder: string;
}

/** Throws like `readConfig`. */
export function readToolConfig(environment: NodeJS.ProcessEnv): ToolConfig {
  const env = readSettings(
    settings.pick({
      DATA_DIR: true,
      DATABASE_URL: true,
      SOLANA_RPC_URL: true,
      HELIUS_API_KEY: true,
      HELIUS_URL: true,
      ENVIRONMENT: true,
      BACKUP_DIR: true,
      BACKUP_KEEP: true,
      BACKUP_COMMAND: true,
      MIN_FREE_BYTES: true,
    }),
    environment,
  );
  const helius = readHelius(env);
  return {
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL ?? null,
    rpcUrl: helius ? heliusUrls(helius).rpcUrl : nodesOf(env.SOLANA_RPC_URL, '')[0].rpcUrl,
    backup: {
      dir: env.BACKUP_DIR ?? backupPath(env.DATA_DIR),
      keep: env.BACKUP_KEEP,
      command: env.BACKUP_COMMAND ?? null,
      environment,
      minFreeBytes: env.MIN_FREE_BYTES,
    },
    workingFolder: environment.INIT_CWD ?? process.cwd(),
  };
}

/** The variables with defaults and meanings, for `--help`. */
export function describeConfig(): string {
  return describeSettings(settings);
}

export { indexPath, ledgerPath } from './ledger/open.ts';

export const backupPath = (dataDir: string) => join(dataDir, 'backups');
export const callKeysPath = (dataDir: string) => join(dataDir, 'call-keys.json');
