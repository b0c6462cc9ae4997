/**
 * Runs Agave's own `solana-test-validator`, which our embedded node is compared with: with Alpenglow and slots of 200 ms,
 * or as a slow cluster. A test process runs at most one at a time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, Keypair, type PublicKey } from '@solana/web3.js';
import { callRpc } from '../../../app/cli/surfpool.ts';
import { freePorts } from '../freePort.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NAME = 'solana-test-validator';
/** Folder of a packed validator, and the folder that it is unpacked to. */
const PACKED = join(ROOT, '..', 'shared', 'tools');
const UNPACKED = join(ROOT, '.local', 'tools');

/** Features that mainnet does not have yet. It has all other features of the validator. */
export const PENDING_ON_MAINNET = {
  /** SIMD-0460: no gaps between stack frames in any version of SBPF. */
  virtualAddressSpaceAdjustments: '7VgiehxNxu53KdxgLspGQY8myE6f7UokaWa4jsGcaSz',
};

export interface ValidatorOptions {
  /** Features that are off from genesis. */
  deactivate?: readonly string[];
  /** Upgradeable programs that exist from genesis. `authority` is a keypair file. */
  programs?: readonly { programId: PublicKey; soPath: string; authority: string }[];
  /** True for TowerBFT, slots of 400 ms, and 13 s to finality. Only there a warp moves the clock. */
  isSlow?: boolean;
}

export type Validator = Awaited<ReturnType<typeof startAt>>;

/** Slots of 200 ms begin with the second epoch, so the first one is short. */
const ALPENGLOW = ['--alpenglow', '--slots-per-epoch', '64'];
/** Within one epoch, a slow cluster can warp by millions of slots, which are days of its clock. */
const SLOW = ['--slots-per-epoch', '34560000'];

let found: string | null | undefined;

/**
 * The path of the validator's executable: packed in ../shared/tools, from `SOLANA_TEST_VALIDATOR`, or on the PATH. Null
 * if there is none.
 */
export function findValidator(): string | null {
  found ??= unpacked() ?? process.env.SOLANA_TEST_VALIDATOR ?? onPath();
  return found;
}

/** Reason for skipping tests that need a validator. */
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

/** Starts a validator and waits until it produces blocks. */
export async function startValidator(options: ValidatorOptions = {}): Promise<Validator> {
  const program = findValidator();
  if (program === null) throw new Error(NO_VALIDATOR);
  for (;;) {
    try {
      return await startAt(await freePorts(PORTS), program, options);
    } catch (error) {
      // Another process took one of the ports after they were drawn.
      if (!String(error).includes('Address already in use')) throw error;
    }
  }
}

/** Uses `PORTS` ports from `base`. */
async function startAt(base: number, program: string, options: ValidatorOptions) {
  const parent = mkdtempSync(join(tmpdir(), 'marketplace-validator-'));
  const ledger = join(parent, 'ledger');
  const payer = Keypair.generate();
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
    ...(options.isSlow ? SLOW : ALPENGLOW),
  ].map(String);
  let child: ChildProcess;
  const begin = async (more: readonly string[]) => {
    // Besides its range, a validator takes the first free UDP port from 8000 on: the gossip port of README.md's validator.
    // Several test processes can hold it at once, each until its own validator has started.
    const held = createSocket({ type: 'udp4', reuseAddr: true })
      .on('error', () => {})
      .bind(README_GOSSIP_PORT);
    try {
      child = spawn(program, [...argv, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
      await untilBlocks(child, rpcUrl, ledger);
      setPriorities(child.pid!);
    } finally {
      held.close();
    }
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
  try {
    await begin([]);
  } catch (error) {
    await kill();
    throw error;
  }
  const rpc = <T = unknown>(method: string, params?: unknown[]): Promise<T> => callRpc<T>(rpcUrl, method, params);
  return {
    rpcUrl,
    wsUrl,
    connection: new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl }),
    /** Has 500 million SOL. */
    payer,
    rpc,
    /**
     * Restarts a slow one `slots` later; its clock moves by the same time. A restart continues from the latest snapshot and
     * loses everything after it, finalized or not. So this first waits for the next snapshot. With Alpenglow, the clock is
     * bound to that of the latest block, and a warp moves only the slot.
     */
    async warp(slots: number): Promise<void> {
      const last = await rpc<number>('getSlot', [{ commitment: 'processed' }]);
      while ((await latestSnapshot(rpc)) < last) await delay(500);
      await kill();
      await begin(['--warp-slot', String(last + slots)]);
    },
    /** Kills it and deletes its chain. */
    async remove(): Promise<void> {
      await kill();
      rmSync(parent, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The slot of the latest snapshot. The validator makes one every hundred slots. */
async function latestSnapshot(rpc: Validator['rpc']): Promise<number> {
  // Before the first snapshot, the answer is an error.
  const found = await rpc<{ full: number; incremental: number | null }>('getHighestSnapshotSlot').catch(() => null);
  return found ? Math.max(found.full, found.incremental ?? 0) : 0;
}

/** Nice values by thread name. */
const NICENESS: Record<string, number> = {
  // Schedules transactions in a busy loop that would use a whole core, but needs less than a thirtieth of one.
  solBnkTxSched: 15,
  // Makes the blocks of Alpenglow.
  solBlkCreatLoop: -15,
  // On a slow cluster, sleeps from tick to tick. If it waits for a processor after each, a slot takes three times as long.
  solPohTickProd: -15,
};

/** The default of `solana-test-validator`. */
export const README_GOSSIP_PORT = 8_000;
/** Ports for JSON-RPC, WebSocket, faucet and gossip, and a dynamic range. */
const PORTS = 40;

/** Waits for two more blocks after the first answer, so that the chain is known to advance. */
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

/** Sets the priorities of all validators on this machine. */
export function setAllPriorities(): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(join('/proc', pid, 'comm'), 'utf8').startsWith('solana-test-val')) setPriorities(Number(pid));
    } catch {
      // The process has ended meanwhile.
    }
  }
}

/** Sets the nice values of these threads of a validator. Only root can set a negative one. */
function setPriorities(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  for (const id of readdirSync(tasks)) {
    const niceness = NICENESS[threadName(join(tasks, id, 'comm'))];
    if (niceness === undefined || (niceness < 0 && process.getuid?.() !== 0)) continue;
    setPriority(Number(id), niceness);
  }
}

/** Empty if the thread has ended meanwhile, as short ones do. */
function threadName(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function lastLog(ledger: string): string {
  try {
    return readFileSync(join(ledger, 'validator.log'), 'utf8').slice(-2_000);
  } catch {
    return '';
  }
}
