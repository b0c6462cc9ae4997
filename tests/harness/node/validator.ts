/**
 * Agave's own `solana-test-validator`, the judge of what our embedded node only stands in for. A test process has one at a
 * time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, Keypair, type PublicKey } from '@solana/web3.js';
import { callRpc } from '../../../app/cli/surfpool.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NAME = 'solana-test-validator';
/** Where a packed one may lie, and where it is unpacked to. */
const PACKED = join(ROOT, '..', 'shared', 'tools');
const UNPACKED = join(ROOT, '.local', 'tools');

/** Features that mainnet does not have yet; all others of the validator it has. */
export const PENDING_ON_MAINNET = {
  /** SIMD-0460: no gaps between stack frames, whatever the version of SBPF. */
  virtualAddressSpaceAdjustments: '7VgiehxNxu53KdxgLspGQY8myE6f7UokaWa4jsGcaSz',
  /** SIMD-0500: nothing older than SBPF v3 can be deployed. */
  disableOldDeployment: 'B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g',
};

export interface ValidatorOptions {
  /** Keeps its chain here, and goes on with one that is there; a new folder of its own without. */
  ledger?: string;
  /** Features that are off from genesis on. */
  deactivate?: readonly string[];
  /** Programs of the upgradeable loader that are there from genesis on; `authority` is a keypair file. */
  programs?: readonly { programId: PublicKey; soPath: string; authority: string }[];
  /**
   * Shreds kept; by default 10,000, some 160 slots. The validator looks once in 512 slots, and counts only the files of its
   * database: before it has been restarted, or has written hundreds of MB, it deletes nothing.
   */
  limitLedgerSize?: number;
  /** Ticks of 6.25 ms in a slot, 24 by default and 64 on mainnet: with fewer, waiting for slots takes less time. */
  ticksPerSlot?: number;
  /** Slots of an epoch: with a long one it can warp more than once. */
  slotsPerEpoch?: number;
}

export interface Validator {
  rpcUrl: string;
  wsUrl: string;
  connection: Connection;
  /** Has 500 million SOL. */
  payer: Keypair;
  ledger: string;
  rpc<T = unknown>(method: string, params?: unknown[]): Promise<T>;
  /** Ends it as a power cut would; its chain stays. */
  kill(): Promise<void>;
  /** Starts it again on the same chain and ports. */
  restart(): Promise<void>;
  /**
   * Ends it and starts it again so many slots later, by whose time its clock moves on. It goes on from its latest
   * snapshot, and what has come since then would be undone, finalized or not: so the next snapshot is awaited first.
   */
  warp(slots: number): Promise<void>;
  /** Ends it and deletes its chain. */
  remove(): Promise<void>;
}

/** 150 ms; a blockhash, which lives for 150 slots, still outlives any pause of a busy machine. */
const TICKS_PER_SLOT = 24;

let found: string | null | undefined;

/**
 * The path of the validator's program: one packed in ../shared/tools, `SOLANA_TEST_VALIDATOR`, or one on the PATH. Null
 * where there is none.
 */
export function findValidator(): string | null {
  found ??= unpacked() ?? process.env.SOLANA_TEST_VALIDATOR ?? onPath();
  return found;
}

/** Why the tests that need a validator are skipped. */
export const NO_VALIDATOR = `skipped: no ${NAME} on the PATH, and SOLANA_TEST_VALIDATOR names none`;

function unpacked(): string | null {
  const packed = existsSync(PACKED) && readdirSync(PACKED).find((file) => /^solana-test-validator-.*\.zst$/.test(file));
  if (!packed) return null;
  const path = join(UNPACKED, packed.replace('.zst', ''));
  if (existsSync(path)) return path;
  mkdirSync(UNPACKED, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const zstd = spawnSync('zstd', ['-d', '-q', '-f', join(PACKED, packed), '-o', unfinished]);
  if (zstd.status !== 0)
    throw new Error(`zstd is needed to unpack ${packed}: apt-get install zstd. ${zstd.stderr ?? ''}`);
  spawnSync('chmod', ['+x', unfinished]);
  renameSync(unfinished, path);
  return path;
}

function onPath(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, NAME)).find((path) => existsSync(path)) ?? null;
}

/** Starts a validator and waits until it makes blocks. */
export async function startValidator(options: ValidatorOptions = {}): Promise<Validator> {
  const program = findValidator();
  if (program === null) throw new Error(NO_VALIDATOR);
  const parent = mkdtempSync(join(tmpdir(), 'marketplace-validator-'));
  const ledger = options.ledger ?? join(parent, 'ledger');
  const payer = Keypair.generate();
  const base = await freePorts(PORTS);
  const rpcUrl = `http://127.0.0.1:${base}`;
  const wsUrl = `ws://127.0.0.1:${base + 1}`;
  const argv = [
    ...['--ledger', ledger, '--quiet', '--bind-address', '127.0.0.1', '--mint', payer.publicKey.toBase58()],
    ...['--rpc-port', base, '--faucet-port', base + 2, '--gossip-port', base + 3],
    ...['--dynamic-port-range', `${base + 4}-${base + PORTS - 1}`],
    ...(options.deactivate ?? []).flatMap((key) => ['--deactivate-feature', key]),
    ...(options.programs ?? []).flatMap(({ programId, soPath, authority }) => [
      ...['--upgradeable-program', programId.toBase58(), soPath, authority],
    ]),
    ...(options.limitLedgerSize ? ['--limit-ledger-size', options.limitLedgerSize] : []),
    ...['--ticks-per-slot', options.ticksPerSlot ?? TICKS_PER_SLOT],
    ...(options.slotsPerEpoch ? ['--slots-per-epoch', options.slotsPerEpoch] : []),
  ].map(String);
  let child: ChildProcess;
  const begin = async (more: readonly string[]) => {
    child = spawn(program, [...argv, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
    await untilBlocks(child, rpcUrl, ledger);
    setPriorities(child.pid!);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  process.once('exit', () => {
    child?.kill('SIGKILL');
    rmSync(parent, { recursive: true, force: true, maxRetries: 3 });
  });
  await begin([]);
  const rpc = <T>(method: string, params?: unknown[]) => callRpc<T>(rpcUrl, method, params);
  return {
    rpcUrl,
    wsUrl,
    connection: new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl }),
    payer,
    ledger,
    rpc,
    kill,
    restart: () => begin([]),
    async warp(slots) {
      const last = await rpc<number>('getSlot', [{ commitment: 'processed' }]);
      while ((await latestSnapshot(rpc)) < last) await delay(500);
      await kill();
      await begin(['--warp-slot', String(last + slots)]);
    },
    async remove() {
      await kill();
      rmSync(parent, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The slot of the latest snapshot; the validator makes one every hundred slots. */
async function latestSnapshot(rpc: Validator['rpc']): Promise<number> {
  // It has an error instead of an answer before its first.
  const found = await rpc<{ full: number; incremental: number | null }>('getHighestSnapshotSlot').catch(() => null);
  return found ? Math.max(found.full, found.incremental ?? 0) : 0;
}

/** By the names of threads. */
const NICENESS: Record<string, number> = {
  // It schedules transactions, never sleeps and would take a whole core. It needs less than a thirtieth of another's time.
  solBnkTxSched: 15,
  // It sleeps from tick to tick. Where it waits for a processor after each, a slot takes three times as long.
  solPohTickProd: -15,
};

/** One for JSON-RPC, one each for WebSocket, faucet and gossip, and those that it takes as it likes. */
const PORTS = 40;

/** The first of so many ports in a row of which none is taken. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const base = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await Promise.all(Array.from({ length: count }, (_, at) => isFree(base + at)));
    if (free.every(Boolean)) return base;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Two blocks more than when it first answered: what it says then is of a chain that goes on. */
async function untilBlocks(child: ChildProcess, rpcUrl: string, ledger: string): Promise<void> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)));
  const slot = () => callRpc<number>(rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]).catch(() => null);
  let first: number | null = null;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the validator ended before it made a block:\n${printed}\n${lastLog(ledger)}`);
    }
    const now = await slot();
    first ??= now;
    if (first !== null && now !== null && now >= first + 2) return;
    await delay(100);
  }
}

/** The same for each validator that a command of the project has started. */
export function setAllPriorities(): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(join('/proc', pid, 'comm'), 'utf8').startsWith('solana-test-val')) setPriorities(Number(pid));
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Gives two threads of a validator a niceness of their own; to lower one is for root alone. */
function setPriorities(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  for (const id of readdirSync(tasks)) {
    const niceness = NICENESS[readFileSync(join(tasks, id, 'comm'), 'utf8').trim()];
    if (niceness === undefined || (niceness < 0 && process.getuid?.() !== 0)) continue;
    setPriority(Number(id), niceness);
  }
}

function lastLog(ledger: string): string {
  try {
    return readFileSync(join(ledger, 'validator.log'), 'utf8').slice(-2_000);
  } catch {
    return '';
  }
}
