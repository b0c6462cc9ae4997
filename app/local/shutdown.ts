/**
 * Ends everything that was started, once and within two seconds: after Ctrl-C, a signal, the end of npm or of a child,
 * or a failed start. This process exits in time even if a step has not ended.
 */

import { readFileSync } from 'node:fs';

/** Timeout of all steps, ms. The rest of the two seconds is for the exit of the process. */
const GRACE_MS = 1_400;
const PARENT_POLL_MS = 200;

export interface Shutdown {
  /** Registers a step of the shutdown. The last registered runs first, and each is awaited before the next. */
  onStop(end: () => unknown): void;
  /** Starts stopping; the process ends with this code. */
  stop(reason: string, exitCode: number): Promise<never>;
  /** True after the first `stop`: later errors are only consequences. */
  readonly isStopping: boolean;
}

/** Installs the signal handlers. `report` prints a line for the user. */
export function createShutdown(report: (line: string) => void): Shutdown {
  const ends: (() => unknown)[] = [];
  let stopping: Promise<never> | null = null;

  async function end(reason: string, exitCode: number): Promise<never> {
    report(`\n${reason}`);
    setTimeout(() => process.exit(exitCode), GRACE_MS);
    for (const step of ends.reverse()) {
      try {
        await step();
      } catch (error) {
        report(`While stopping: ${(error as Error).message}`);
      }
    }
    process.exit(exitCode);
  }

  const shutdown: Shutdown = {
    onStop: (step) => void ends.push(step),
    stop(reason, exitCode) {
      stopping ??= end(reason, exitCode);
      return stopping;
    },
    get isStopping() {
      return stopping !== null;
    },
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Later signals change nothing: terminal and npm often both send one.
    process.on(signal, () => void shutdown.stop('Stopping ...', 0));
  }
  return shutdown;
}

/**
 * Stops when npm is gone, for example killed. npm runs scripts through a shell that may outlive it, so the grandparent
 * is watched too, if the system shows it.
 */
export function stopWithParent(shutdown: Shutdown): void {
  const ancestors = () => `${process.ppid} ${parentOf(process.ppid)}`;
  const atStart = ancestors();
  setInterval(() => {
    if (ancestors() !== atStart) void shutdown.stop('npm has ended; stopping ...', 0);
  }, PARENT_POLL_MS).unref();
}

/** Null without /proc, or without such a process. */
function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}
