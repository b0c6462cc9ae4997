/** Runs the relay as an operator does, `app/relay/main.ts` in its own process, and its other commands. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import pino from 'pino';
import { addCheckCommand } from '../../../app/relay/check.ts';
import { readConfig, readToolConfig } from '../../../app/relay/config.ts';
import { addBackupCommand } from '../../../app/relay/ledger/backup.ts';
import { addRestoreCommand } from '../../../app/relay/ledger/restore.ts';
import { addReconcileCommand } from '../../../app/relay/reconcile/command.ts';
import { createIndexer, type Indexer } from '../../../indexer/indexer.ts';
import { relayEnvironment, type TestMarketplace, untilCompared } from './marketplace.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const ARGV = ['scripts/run.mjs', 'app/relay/main.ts'];
const COMMAND_TIMEOUT_MS = 300_000;

export type RelayMain = Awaited<ReturnType<typeof startRelayMain>>;

const environment = (market: TestMarketplace, changes: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...process.env,
  ...relayEnvironment(market),
  SPONSOR: 'all',
  ...changes,
});

/** Prepares a suite for `startRelayMain`: the marketplace's own relay ends, and its indexer runs in this process. */
export function useIndexer(market: TestMarketplace): void {
  let indexer: Indexer;
  before(async () => {
    await market.relay.kill();
    const { rpcUrl, wsUrl } = market.node;
    indexer = createIndexer({ rpcUrl, wsUrl, path: market.indexPlace, log: pino({ level: 'silent' }) });
    await indexer.start();
  });
  after(() => indexer.stop());
}

/** Starts the relay and resolves when it is ready. If it ends before, rejects with its output. */
export async function startRelayMain(market: TestMarketplace, changes: NodeJS.ProcessEnv = {}) {
  const env = environment(market, changes);
  const child = spawn(process.execPath, ARGV, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let poll = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      poll();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    poll = () => {
      const ready = output.split('\n').find((line) => line.includes('"relay is ready"'));
      if (ready) resolve((JSON.parse(ready) as { url: string }).url);
    };
    exited.then((code) => reject(new Error(`the relay ended with ${code} before it was ready:\n${output}`)));
  });
  await untilCompared(url);
  /** `exited` resolves with the exit code; `log` is all that was logged so far. */
  return { url, child, exited, log: () => output };
}

/** Runs another command of the relay to its end, without blocking this process. */
export async function runRelayCommand(market: TestMarketplace, args: string[], changes: NodeJS.ProcessEnv = {}) {
  const env = environment(market, changes);
  const child = spawn(process.execPath, [...ARGV, ...args], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_TIMEOUT_MS,
  });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code))),
  ]);
  return { status, stdout, stderr };
}

/** Runs a command within this process, where it needs no two seconds to start. Its result is that of the process. */
export async function runCommandHere(market: TestMarketplace, args: string[], changes: NodeJS.ProcessEnv = {}) {
  const env = environment(market, changes);
  const program = new Command();
  addCheckCommand(program, () => readConfig(env));
  for (const add of [addBackupCommand, addRestoreCommand, addReconcileCommand]) add(program, () => readToolConfig(env));
  const { log, error } = console;
  const { exitCode } = process;
  const printed: string[] = [];
  const faults: string[] = [];
  console.log = (line) => void printed.push(line);
  console.error = (line) => void faults.push(line);
  process.exitCode = 0;
  try {
    // Prints an error of the action as main.ts does.
    await program.parseAsync(args, { from: 'user' }).catch(({ message }: Error) => {
      console.error(message);
      process.exitCode = 1;
    });
    const textOf = (lines: string[]) => lines.map((line) => `${line}\n`).join('');
    return { status: process.exitCode as number, stdout: textOf(printed), stderr: textOf(faults) };
  } finally {
    Object.assign(console, { log, error });
    process.exitCode = exitCode;
  }
}
