/**
 * Starts the local network as a person does, in separate processes, and finds the processes that are left. They all
 * inherit one environment variable. /proc shows it, whatever their parent is.
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
/** Reading all processes takes long. */
const SEARCH_MS = 200;
/** Longer than the end of a busy machine's processes takes. A process that hangs never ends. */
const PATIENCE_MS = 240_000;

export interface Start {
  child: ChildProcess;
  /** All output so far, stdout and stderr. */
  output(): string;
  /** The output to stdout so far. */
  stdout(): string;
  /** The content of demo.json, once it is written. Rejects with the output if the process ends first. */
  ready: Promise<DemoFile>;
  /** The exit code, once the process has ended. */
  exited: Promise<number | null>;
  /** Process ids of all started processes that still run. */
  processes(): number[];
  /** Sends a signal to the whole process group, as a terminal does on Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void;
}

const running: Start[] = [];

/** `command`: the launcher itself, npm as a person types it, or a shell line. */
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

/** Waits until all its processes have ended; throws if one does not. */
export async function untilGone(start: Start): Promise<void> {
  // Counted in polls instead of by the clock: a busy machine slows this process as much as the others.
  for (let waitedMs = 0; ; waitedMs += SEARCH_MS) {
    const left = start.processes();
    if (left.length === 0) return;
    if (waitedMs > PATIENCE_MS) throw new Error(`after ${PATIENCE_MS} ms these still run: ${left.join(', ')}`);
    await delay(SEARCH_MS);
  }
}

const directories: string[] = [];

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'local-network-'));
  directories.push(directory);
  return directory;
}

/** For `after`: kills the processes that a failed test left, and removes the directories. */
export function cleanUp(): void {
  for (const pid of running.flatMap((start) => start.processes())) process.kill(pid, 'SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

function processesWith(mark: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => environmentOf(pid).split('\0').includes(mark)).map(Number);
}

/** Empty for a process that has ended, including a zombie. */
function environmentOf(pid: string): string {
  try {
    return existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
  } catch {
    return '';
  }
}
