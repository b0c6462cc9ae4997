/**
 * Starts the local network as a person does, in processes of its own, and finds out what is left of it. Every process
 * that it starts inherits one environment variable, by which they are found under /proc whoever their parent is.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DemoFile } from '../../app/local/demoFile.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
const READY_LINE = 'Stop with Ctrl-C.';
const POLL_MS = 20;

export interface Start {
  child: ChildProcess;
  /** Everything it printed so far, stdout and stderr. */
  output(): string;
  /** Of that, what went to stdout. */
  stdout(): string;
  /** The content of demo.json, as soon as it stands there. Rejects with the output if the process ends first. */
  ready: Promise<DemoFile>;
  /** The exit code, as soon as the process is gone. */
  exited: Promise<number | null>;
  /** Process ids of everything that was started and still runs. */
  processes(): number[];
  /** Sends a signal to the whole process group, as a terminal does on Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void;
}

const running: Start[] = [];

/** `command`: the launcher itself, npm as a person types it, or a line of a shell. */
export function startNetwork(
  dataDir: string,
  options: {
    port?: number;
    env?: Record<string, string>;
    command?: 'launcher' | 'npm' | { line: string };
    args?: string[];
  } = {},
): Start {
  const mark = `LOCAL_TEST=${randomUUID()}`;
  const { SOLANA_RPC_URL, SOLANA_WS_URL, npm_lifecycle_event, INIT_CWD, ...inherited } = process.env;
  const env = {
    ...inherited,
    DATA_DIR: dataDir,
    PORT: String(options.port ?? 0),
    LOCAL_TEST: mark.slice('LOCAL_TEST='.length),
    ...options.env,
  };
  const { command = 'launcher' } = options;
  const launcher = [process.execPath, 'scripts/run.mjs', 'app/local/main.ts', ...(options.args ?? [])];
  const npm = ['npm', 'start'];
  const [program, ...args] =
    typeof command === 'object' ? ['sh', '-c', command.line] : command === 'npm' ? npm : launcher;
  const child = spawn(program as string, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const ready = (async () => {
    let ended = false;
    exited.then(() => (ended = true));
    while (!text.includes(READY_LINE)) {
      if (ended) throw new Error(`the local network did not start:\n${text}`);
      await delay(POLL_MS);
    }
    return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
  })();
  ready.catch(() => {});
  const start: Start = {
    child,
    output: () => text,
    stdout: () => printed,
    ready,
    exited,
    processes: () => processesWith(mark),
    signalGroup: (signal) => void process.kill(-(child.pid as number), signal),
  };
  running.push(start);
  return start;
}

/**
 * Waits until nothing of it runs; throws after `patienceMs`. The time is counted in looks, not by the clock: a busy machine
 * slows this process as much as those that it waits for.
 */
export async function goneWithin(start: Start, patienceMs: number): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const left = start.processes();
    if (left.length === 0) return;
    if (waitedMs > patienceMs) throw new Error(`after ${patienceMs} ms these still run: ${left.join(', ')}`);
    await delay(POLL_MS);
  }
}

const directories: string[] = [];

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'local-network-'));
  directories.push(directory);
  return directory;
}

/** For `after`: ends what a failed test left behind. */
export function cleanUp(): void {
  for (const pid of running.flatMap((start) => start.processes())) process.kill(pid, 'SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

function processesWith(mark: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => environmentOf(pid).split('\0').includes(mark)).map(Number);
}

/** Empty for a process that has just ended, or has ended and waits for its parent. */
function environmentOf(pid: string): string {
  try {
    return existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
  } catch {
    return '';
  }
}
