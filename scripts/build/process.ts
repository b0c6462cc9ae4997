// Runs the tools of the build: quietly, with their output shown only when they fail.
import { spawn, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** An error whose message is all that the reader needs; printed without a stack. */
export class BuildError extends Error {}

/** One line of progress, on standard error so that `--json` keeps standard output to itself. */
export function progress(message: string): void {
  console.error(message);
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
}

/**
 * Runs a command and gives its standard output. While it runs longer than 15 seconds, says so with the last line it
 * wrote. Throws BuildError with the end of its output when it fails.
 */
export function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let output = '';
    const started = Date.now();
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
      output = (output + chunk).slice(-20_000);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-20_000);
    });
    const timer = setInterval(() => {
      const lastLine = output.trimEnd().split('\n').at(-1)?.trim().slice(0, 100) ?? '';
      progress(`    ${Math.round((Date.now() - started) / 1000)} s: ${lastLine}`);
    }, 15_000);
    const stop = (error: Error | null) => {
      clearInterval(timer);
      if (error) reject(error);
      else resolve(stdout);
    };
    child.on('error', (error) => stop(new BuildError(`${command} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) return stop(null);
      stop(new BuildError(`${output.trimEnd()}\n\n${command} ${args[0] ?? ''} failed (${signal ?? `exit ${code}`}).`));
    });
  });
}

/** What a command prints, or null when it is missing or fails. Never makes rustup install anything. */
export function outputOf(command: string, args: string[]): string | null {
  const env = { ...process.env, RUSTUP_AUTO_INSTALL: '0' };
  const result = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', env });
  return result.status === 0 ? result.stdout : null;
}

/** The first line of that. */
export function firstLine(command: string, args: string[]): string | null {
  return outputOf(command, args)?.split('\n')[0] ?? null;
}
