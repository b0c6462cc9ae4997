/** Child processes of the bench, started from files of this folder and controlled by messages. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkSource } from '../app/process/typescript.ts';

export interface Child<Ready> {
  ready: Ready;
  /** Sends a message and resolves with the next message received. */
  ask<Answer>(message: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a file of this folder; resolves with its first message. Rejects if it ends before. */
export async function startChild<Ready>(file: string, args: string[]): Promise<Child<Ready>> {
  const child: ChildProcess = forkSource(join(import.meta.dirname, file), args, {
    // For example `--cpu-prof --cpu-prof-dir=/tmp/profiles`, to profile the child.
    execArgv: process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
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
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
