/** Runs programs of the system joined by pipes, such as `zstd -dc | pg_restore`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Only its owner may read what a pipe writes. */
const PRIVATE = 0o600;

export interface Program {
  command: string;
  args: readonly string[];
  /** The environment, if not this process's own: for secrets, which a list of processes would show as arguments. */
  env?: NodeJS.ProcessEnv;
  /** Debian's package of it, for the message if it is missing. */
  from: string;
}

/** The file that the first program reads, and the new file that the last one writes. */
export interface Ends {
  input?: string;
  output?: string;
}

/** Resolves when all have ended well. Rejects with the output of the one that failed; a part of the file may remain. */
export async function runPiped(programs: readonly Program[], { input, output }: Ends): Promise<void> {
  const children = programs.map(({ command, args, env }) =>
    spawn(command, args, { ...(env && { env }), stdio: ['pipe', 'pipe', 'pipe'] }),
  );
  const ends = children.map((child, at) => endOf(child, programs[at] as Program));
  const flows: Promise<void>[] = [];
  const flow = (from: Readable, to: Writable) => flows.push(pipeline(from, to));
  for (const [at, child] of children.entries()) {
    const next = children[at + 1];
    if (next) flow(child.stdout, next.stdin);
    else if (output) flow(child.stdout, createWriteStream(output, { flags: 'wx', mode: PRIVATE }));
    else child.stdout.resume();
  }
  const [first] = children;
  if (input) flow(createReadStream(input), first!.stdin);
  else first!.stdin.end();
  const failed = (await Promise.allSettled([...ends, ...flows])).flatMap((one) =>
    one.status === 'rejected' ? [one.reason] : [],
  );
  // A program that failed breaks the pipes beside it, so its own words come first. But a full disk ends the program.
  const cause = failed.find((reason) => reason.code === 'ENOSPC') ?? failed[0];
  if (cause) throw cause;
}

async function endOf(child: ChildProcess, { command, from }: Program): Promise<void> {
  const said = text(child.stderr as Readable);
  const [code, signal] = await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Error(`${command} is not installed. On Debian or Ubuntu: apt-get install ${from}`);
  });
  if (code !== 0) throw new Error(`${command} ended with ${signal ?? `exit code ${code}`}: ${(await said).trim()}`);
}
