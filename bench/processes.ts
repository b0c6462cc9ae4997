/** Child processes of the bench, started from files of this folder and controlled by messages. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkSource } from '../app/process/typescript.ts';

export interface Child<Ready> {
  ready: Ready;
  /** Sends a message and resolves with the next message received. */
  ask<Answer>(message: object): Promise<Answer>;
  /** The listener gets every message. */
  onMessage(listener: (message: unknown) => void): void;
  /** Sends a message that needs no answer. */
  tell(message: object): void;
  stop(): Promise<void>;
  /** Kills the process; resolves when it is gone, or if it was gone already. */
  kill(): Promise<void>;
}

/** Starts a file of this folder; resolves with its first message. Rejects if it ends before. */
export async function startChild<Ready>(
  file: string,
  args: string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Child<Ready>> {
  const child: ChildProcess = forkSource(join(import.meta.dirname, file), args, {
    // For example `--cpu-prof --cpu-prof-dir=/tmp/profiles`, to profile the child.
    execArgv: process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [],
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const ended = once(child, 'exit');
  const early = ended.then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`)));
  early.catch(() => undefined);
  const [ready] = (await Promise.race([once(child, 'message'), early])) as [Ready];
  return {
    ready,
    async ask(message) {
      const answer = once(child, 'message');
      child.send(message);
      return (await Promise.race([answer, early]))[0];
    },
    onMessage: (listener) => void child.on('message', listener),
    tell: (message) => void child.send(message),
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
