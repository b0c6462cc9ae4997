/** Runs a command in its own process group, until it ends or is silent for too long, with its processor time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

interface Ran {
  status: number;
  output: string;
  /** User and system time of the command and of all processes that it started and waited for. */
  processorSeconds: number;
}

/** A suite without output for this long is hanging. It exceeds the longest time that one test may take. */
const SILENT_MS = Number(process.env.TEST_SILENT_MS ?? 25 * 60_000);
const POLL_MS = 1_000;
/** Time to wait for output after the end of a process. */
const LAST_WORDS_MS = 2_000;

/**
 * Runs a command in its own process group. Writes the group's number to descriptor 3, and at the end the processor time
 * of the command and its children, which Node cannot read. It does not start a new session, as Node would: if Linux
 * shares time by session, the low priority of a validator's busy thread would count only within its suite.
 */
const TIMED = 'set -m; "$@" 3>&- & set +m; echo $! >&3; wait $!; status=$?; times >&3; exit $status';

export const root = join(import.meta.dirname, '..');

/** Ids of running process groups. */
export const running = new Set<number>();

/** Kills a process group, including processes left behind. */
export function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {}
}

/** Parses the output of `times`: two lines of two times each, the shell's and its children's, such as 1m2.34s. */
function processorSecondsOf(times: string): number {
  const parts = [...times.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((total, [, minutes, seconds]) => total + Number(minutes) * 60 + Number(seconds), 0);
}

/** Runs a command until it ends, or has been silent for too long. `hear` gets its output immediately. */
export async function run(argv: string[], env: NodeJS.ProcessEnv, hear: (text: string) => void): Promise<Ran> {
  const child = spawn('bash', ['-c', TIMED, 'bash', ...argv], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let group: number | null = null;
  const end = () => group !== null && endGroup(group);
  let output = '';
  let times = '';
  let heardAt = performance.now();
  const [, stdout, stderr, timer] = child.stdio as unknown as Readable[];
  for (const stream of [stdout!, stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      heardAt = performance.now();
      output += text;
      hear(text);
    });
  }
  timer!.setEncoding('utf8').on('data', (text: string) => {
    times += text;
    if (group !== null) return;
    group = Number.parseInt(times, 10);
    running.add(group);
  });
  const watching = setInterval(() => {
    if (performance.now() - heardAt < SILENT_MS) return;
    output += `\n  no output for ${Math.round(SILENT_MS / 1_000)} s: stopped\n`;
    end();
  }, POLL_MS);
  const closed = once(child, 'close');
  const [status] = (await once(child, 'exit')) as [number | null];
  clearInterval(watching);
  await Promise.race([closed, sleep(LAST_WORDS_MS)]);
  end();
  if (group !== null) running.delete(group);
  return { status: status ?? 1, output, processorSeconds: processorSecondsOf(times) };
}
