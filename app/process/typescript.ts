/** Runs our sources in a separate process. */
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { join } from 'node:path';

const RUN = join(import.meta.dirname, '..', '..', 'scripts', 'run.mjs');

/** Like `fork`, for a TypeScript file. */
export function forkSource(file: string, args: string[], options: ForkOptions = {}): ChildProcess {
  return fork(RUN, [file, ...args], { execArgv: [], ...options });
}
