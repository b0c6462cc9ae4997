/** The relay's settings, and the only place in its process that reads the environment. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { databaseUrl } from '../database/postgres.ts';
import { describeSettings, readSettings } from '../process/settings.ts';
import { parseAddress } from '../sdk/program/program.ts';
import { type HeliusOptions, heliusUrls, readHelius } from '../solana/helius.ts';
import { type NodeUrls, nodesOf, urls } from '../solana/nodes.ts';
import type { PublicRate } from './access/publicLimit.ts';
import type { KeepingSettings } from './execution/keeping.ts';
import type { Budgets } from './ledger/funding.ts';
import type { RevocationBudget } from './ledger/revocations.ts';
import type { ObjectSettings } from './outbound/resultObjects.ts';
import type { SweepSettings } from './sweeper/sweeper.ts';

function isAddress(text: string): boolean {
  try {
    return parseAddress(text).toBase58() === text;
  } catch {
    return false;
  }
}

const lamports = (usual: bigint) =>
  z.coerce
    .bigint()
    .min(0n)
    .max(2n ** 53n)
    .default(usual);

/** A settle of 60,000 units then pays 600 lamports, an eighth of its signature: enough to be before those who pay nothing. */
const LIVE_PRIORITY_FEE = 10_000n;

/** Longer than transactions that were signed before can still land, and than most calls of a deployment are apart that is in use. */
export const USUAL_SILENCE_SECONDS = 120;

/** How large results may be, how long they are kept, and where. */
export interface ResultSettings extends KeepingSettings {
  /** Bytes of a result for each cent of its price. */
  bytesPerCent: number;
  /** Null: all results stay in the ledger. */
  objects: ObjectSettings | null;
}

/** Those of a relay that is told nothing else. */
export const USUAL_RESULTS: ResultSettings = {
  bytesPerCent: 65_536,
  retentionDays: 30,
  objectBytes: 65_536,
  objects: null,
};

const settings = z.object({
  ENVIRONMENT: z
    .enum(['test', 'live'])
    .default('test')
    .describe('live: mainnet, keys crtx_live_; test: devnet or a local network, keys crtx_test_'),
  SOLANA_RPC_URL: urls('http://127.0.0.1:8899').describe(
    'JSON-RPC address of the Solana node; several with commas between: the next is asked where one fails, and what decides about money is asked of two',
  ),
  SOLANA_WS_URL: urls('ws://127.0.0.1:8900').describe('WebSocket address of the same node, or of each in that order'),
  HELIUS_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe(
      'reach the chain through Helius instead of SOLANA_RPC_URL and SOLANA_WS_URL, and ask it for priority fees',
    ),
  HELIUS_URL: z
    .url()
    .optional()
    .describe('address of Helius, if not https://mainnet.helius-rpc.com/ for live, devnet.helius-rpc.com for test'),
  MAX_PRIORITY_FEE_LAMPORTS: z.coerce
    .bigint()
    .min(0n)
    .default(100_000n)
    .describe('most that one transaction may pay to be taken first, beyond its signatures; 0: never anything'),
  MIN_PRIORITY_FEE_MICROLAMPORTS: z.coerce
    .bigint()
    .min(0n)
    .max(2n ** 53n)
    .optional()
    .describe(
      'least price of priority, micro-lamports per compute unit, whatever others pay; if not 10000 for live, 0 for test',
    ),
  EDGE_RPC_PER_SECOND: z.coerce
    .number()
    .int()
    .min(1)
    .default(20)
    .describe('readings of the chain every second, on average, for what nobody has paid for: keys, pages, readiness'),
  PUBLIC_RPC_URL: z
    .url()
    .optional()
    .describe('RPC address that callers are shown, if not the origin of SOLANA_RPC_URL'),
  RELAY_KEYPAIR: z.string().min(1).describe('file of the relay authority, a JSON array of 64 bytes'),
  AUTHORITY_SILENCE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(86_400)
    .default(USUAL_SILENCE_SECONDS)
    .describe(
      'another deployment that signs with the relay authority must have been silent for so long; 0: nobody looks for one',
    ),
  DATA_DIR: z.string().default('.local').describe('folder of ledger.db and index.db'),
  DATABASE_URL: databaseUrl.describe('PostgreSQL in place of ledger.db and index.db; the same for relays and indexers'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on'),
  PORT: z.coerce.number().int().min(0).max(65535).default(8787).describe('port to listen on; 0 picks one'),
  BASE_URL: z.url().optional().describe('public address in result links, if not http://HOST:PORT'),
  CALL_KEYS: z
    .string()
    .min(1)
    .optional()
    .describe('file of the keys that sign calls to creators, made where it is missing, if not DATA_DIR/call-keys.json'),
  ALLOW_PRIVATE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true lets creators be called over http and on private addresses; for a local network only'),
  RENT_RETURN_ADDRESS: z
    .string()
    .refine(isAddress, 'must be a base58 address of 32 bytes')
    .optional()
    .describe('who gets the rent back that this relay lends; best a cold wallet. Default: the relay authority'),
  SPONSOR: z
    .enum(['budgets', 'all'])
    .default('budgets')
    .describe('all: you pay whatever a wallet’s tank does not, without the limits of TRIAL_* and SPONSOR_LAMPORTS_*'),
  TRIAL_CALLS_PER_WALLET: z.coerce
    .number()
    .int()
    .min(0)
    .default(3)
    .describe('calls of a wallet, ever, whose network fees are on the house'),
  TRIAL_LAMPORTS_PER_DAY: lamports(5_000_000n).describe('network fees of all such calls in 24 hours, lamports'),
  SPONSOR_LAMPORTS_PER_WALLET: lamports(100_000_000n).describe(
    'rent lent to one wallet’s calls at once, lamports; it comes back, and where this is used up the wallet’s tank lends',
  ),
  SPONSOR_LAMPORTS_PER_LISTING: lamports(1_000_000_000n).describe('rent lent to one agent’s calls at once, lamports'),
  SPONSOR_LAMPORTS_TOTAL: lamports(10_000_000_000n).describe('rent lent at once in all, lamports'),
  BURNT_LAMPORTS_PER_WALLET_DAY: lamports(5_000_000n).describe(
    'network fees that nobody has paid for, as of opens that failed, in 24 hours: of one wallet’s calls, lamports',
  ),
  BURNT_LAMPORTS_PER_LISTING_DAY: lamports(20_000_000n).describe(
    'the same of one agent’s calls, lamports; half is kept for wallets that have paid for calls',
  ),
  BURNT_LAMPORTS_PER_DAY: lamports(50_000_000n).describe('the same in all, lamports; half is kept likewise'),
  REVOKE_LAMPORTS_PER_WALLET_DAY: lamports(100_000n).describe(
    'network fees of revoking keys on-chain for a session, in 24 hours: of one wallet, lamports; beyond it the wallet revokes by itself',
  ),
  REVOKE_LAMPORTS_PER_DAY: lamports(5_000_000n).describe('the same of all wallets, lamports'),
  MAX_OPEN_EXECUTIONS: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe('most executions that one wallet may have open at once; 0 for no limit'),
  TRUST_PROXY: z.coerce
    .number()
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe('how many proxies of yours stand in front; 0: the address of a caller is that of its connection'),
  PUBLIC_RATE_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(50)
    .describe('requests without an API key that one address (see TRUST_PROXY) may send every second; 0 for no limit'),
  PUBLIC_RATE_BURST: z.coerce
    .number()
    .int()
    .min(0)
    .default(200)
    .describe('requests without an API key that it may send at once, every ten seconds'),
  REFUSE_AFTER: z.coerce
    .number()
    .int()
    .min(0)
    .max(50)
    .default(0)
    .describe("executions that an agent's server fails in a row before new ones are refused; 0: never"),
  PROBE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(30)
    .describe('how often an agent whose executions are refused is asked whether it answers again'),
  EGRESS_IPS: z.string().default('').describe('comma-separated addresses that creators may allow-list'),
  SHUTDOWN_SECONDS: z.coerce
    .number()
    .min(1)
    .max(600)
    .default(10)
    .describe('time to stop in: most of it for executions that are nearly done, the rest go on after the next start'),
  LEAVE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(60)
    .default(0)
    .describe(
      'how much of SHUTDOWN_SECONDS a relay that stops still takes executions, while /ready is 503 and proxies turn to another one',
    ),
  MIN_RUNWAY_HOURS: z.coerce
    .number()
    .min(0)
    .default(1)
    .describe('new executions stop when the SOL of the relay authority lasts for less, at the present rate; 0: never'),
  MIN_FEE_PAYER_LAMPORTS: z.coerce
    .number()
    .int()
    .min(0)
    .default(50_000_000)
    .describe('new executions stop when the relay authority has less; what is left settles and refunds the others'),
  MIN_FREE_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(256 * 1_024 * 1_024)
    .describe(
      'new executions stop when the file system of DATA_DIR has less free, which those under way need; 0: only when a write has found no room, as always with DATABASE_URL',
    ),
  ARCHIVE: z
    .enum(['on', 'existing', 'off'])
    .default('on')
    .describe(
      'on: ended records become leaves of an archive and their rent comes back, and the relay authority pays for the trees, a third of a SOL for a million records; existing: only where somebody has made a tree; off: neither',
    ),
  ARCHIVE_WAIT_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(21_600)
    .describe('how long a record that can be archived waits for others, because twelve share a fee'),
  RESULT_BYTES_PER_CENT: z.coerce
    .number()
    .int()
    .min(1_024)
    .default(USUAL_RESULTS.bytesPerCent)
    .describe('bytes that a result may have for each cent of its price; none has more than 5 MiB'),
  RESULT_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(7)
    .max(36_500)
    .default(USUAL_RESULTS.retentionDays)
    .describe('how long results are kept; after that, and after the end of a dispute, only their hashes are'),
  S3_ENDPOINT: z.url().optional().describe('address of an S3-compatible storage for large results; needs all of S3_*'),
  S3_BUCKET: z.string().min(1).optional().describe('bucket of it, which must exist'),
  S3_REGION: z.string().min(1).default('us-east-1').describe('region that its requests are signed for'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('who signs them'),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('the secret of that key'),
  S3_RESULT_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(USUAL_RESULTS.objectBytes)
    .describe('results of so many bytes and more lie there instead of in the ledger'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('who sends it as Bearer token may read /metrics; without it, only this computer may'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('least severe log line'),
});

/** Everything the relay needs to know, parsed. */
export interface RelayConfig {
  environment: 'test' | 'live';
  rpcUrl: string;
  wsUrl: string;
  /** Asked where the first fails, and for a second word on what decides about money. */
  moreNodes: NodeUrls[];
  /** Null: the node is a plain one. */
  helius: HeliusOptions | null;
  maxPriorityFeeLamports: bigint;
  /** Micro-lamports per compute unit. */
  minPriorityFee: bigint;
  /** Readings of the chain that strangers may cause, every second. */
  edgeRpcPerSecond: number;
  publicRpcUrl: string;
  authority: Keypair;
  /** How long another deployment with this authority has to be silent, seconds; 0: nobody looks for one. */
  authoritySilenceSeconds: number;
  dataDir: string;
  /** Null: SQLite files in `dataDir`. */
  databaseUrl: string | null;
  host: string;
  port: number;
  /** Null: derive it from the address that is listened on. */
  baseUrl: string | null;
  /** Where the keys that sign calls to creators lie. */
  callKeysPath: string;
  allowPrivateEndpoints: boolean;
  /** Failures in a row after which an agent is refused, 0 for never, and seconds between its probes. */
  degraded: { refuseAfter: number; probeSeconds: number };
  egressIps: string[];
  budgets: Budgets;
  /** What the relay pays to revoke keys. */
  revocations: RevocationBudget;
  /** Null: the relay authority. */
  rentReturn: PublicKey | null;
  /** Proxies in front whose X-Forwarded-For is believed. */
  trustProxy: number;
  /** Of what needs no API key, for each address. */
  publicRate: PublicRate;
  /** Time for `stop` in all. */
  shutdownSeconds: number;
  /** Less than that. */
  leaveSeconds: number;
  /** Below either of them nothing new is accepted. */
  runway: { minHours: number; minLamports: number };
  /** Below it nothing new is accepted, because the ledger's file system is nearly full; 0: only when it is. */
  minFreeBytes: number;
  archive: SweepSettings;
  results: ResultSettings;
  metricsToken: string | null;
  /** People to try the page with, given to this computer only. Null but on a local network. */
  developmentWallets: { name: string; keypair: Keypair }[] | null;
  logLevel: string;
}

/** What a relay gives that nobody else uses: everything. */
export const SPONSOR_ALL: Budgets = {
  sponsorsAll: true,
  lent: { wallet: 0n, listing: 0n, total: 0n },
  burnt: { wallet: 2n ** 52n, listing: 2n ** 52n, total: 2n ** 52n },
  trial: { calls: 0, lamportsPerDay: 0n },
  openExecutions: 0,
};

/** A keypair file as solana-keygen writes it. Throws with the path and the expected form. */
export function readKeypair(path: string): Keypair {
  try {
    return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(path, 'utf8'))));
  } catch (error) {
    throw new Error(`${path} is not a keypair file (a JSON array of 64 bytes): ${(error as Error).message}`);
  }
}

/** Settings from the environment. Throws one line for each variable that is missing or wrong. */
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
    // Providers put their customers' keys into path, query or user name, and this address is shown to everybody.
    publicRpcUrl: env.PUBLIC_RPC_URL ?? new URL(rpcUrl).origin,
    authority: readKeypair(env.RELAY_KEYPAIR),
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
    budgets: {
      sponsorsAll: env.SPONSOR === 'all',
      lent: {
        wallet: env.SPONSOR_LAMPORTS_PER_WALLET,
        listing: env.SPONSOR_LAMPORTS_PER_LISTING,
        total: env.SPONSOR_LAMPORTS_TOTAL,
      },
      burnt: {
        wallet: env.BURNT_LAMPORTS_PER_WALLET_DAY,
        listing: env.BURNT_LAMPORTS_PER_LISTING_DAY,
        total: env.BURNT_LAMPORTS_PER_DAY,
      },
      trial: { calls: env.TRIAL_CALLS_PER_WALLET, lamportsPerDay: env.TRIAL_LAMPORTS_PER_DAY },
      openExecutions: env.MAX_OPEN_EXECUTIONS,
    },
    revocations: { wallet: env.REVOKE_LAMPORTS_PER_WALLET_DAY, total: env.REVOKE_LAMPORTS_PER_DAY },
    rentReturn: env.RENT_RETURN_ADDRESS ? parseAddress(env.RENT_RETURN_ADDRESS) : null,
    trustProxy: env.TRUST_PROXY,
    publicRate: { perSecond: env.PUBLIC_RATE_PER_SECOND, burst: env.PUBLIC_RATE_BURST },
    shutdownSeconds: env.SHUTDOWN_SECONDS,
    leaveSeconds: env.LEAVE_SECONDS,
    runway: { minHours: env.MIN_RUNWAY_HOURS, minLamports: env.MIN_FEE_PAYER_LAMPORTS },
    minFreeBytes: env.MIN_FREE_BYTES,
    archive: { mode: env.ARCHIVE, waitSeconds: env.ARCHIVE_WAIT_SECONDS },
    results: {
      bytesPerCent: env.RESULT_BYTES_PER_CENT,
      retentionDays: env.RESULT_RETENTION_DAYS,
      objectBytes: env.S3_RESULT_BYTES,
      objects: readObjectSettings(env),
    },
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
    throw new Error(`A storage for results also needs ${missing.map(([name]) => name).join(', ')}`);
  }
  return {
    endpoint: S3_ENDPOINT!,
    bucket: S3_BUCKET!,
    region: env.S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID!,
    secretAccessKey: S3_SECRET_ACCESS_KEY!,
  };
}

/** What the commands beside the relay itself need: they hold no key. */
export interface ToolConfig {
  dataDir: string;
  databaseUrl: string | null;
  rpcUrl: string;
  /** The folder of the person's shell, from which paths on the command line are meant; npm runs its scripts in another. */
  workingFolder: string;
}

/** Throws as `readConfig` does. */
export function readToolConfig(environment: NodeJS.ProcessEnv): ToolConfig {
  const env = readSettings(
    settings.pick({
      DATA_DIR: true,
      DATABASE_URL: true,
      SOLANA_RPC_URL: true,
      HELIUS_API_KEY: true,
      HELIUS_URL: true,
      ENVIRONMENT: true,
    }),
    environment,
  );
  const helius = readHelius(env);
  return {
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL ?? null,
    rpcUrl: helius ? heliusUrls(helius).rpcUrl : nodesOf(env.SOLANA_RPC_URL, '')[0].rpcUrl,
    workingFolder: environment.INIT_CWD ?? process.cwd(),
  };
}

/** The variables, their defaults and meanings, for `--help`. */
export function describeConfig(): string {
  return describeSettings(settings);
}

export { indexPath, ledgerPath } from './ledger/open.ts';
export const callKeysPath = (dataDir: string) => join(dataDir, 'call-keys.json');
