/**
 * Ending everything that was started, once, within two seconds, for whatever reason: Ctrl-C, a signal, npm gone, a
 * child gone, a start that failed. What has not ended by itself in time is ended by force.
 */

import { readFileSync } from 'node:fs';

/** After this, no more waiting; the rest of two seconds is for the process itself to go. */
const GRACE_MS = 1_400;
const PARENT_POLL_MS = 200;

export interface Shutdown {
  /** Runs when stopping begins; those given later run first, each awaited before the next. */
  onStop(end: () => unknown): void;
  /** Begins stopping; the process ends with this code. */
  stop(reason: string, exitCode: number): Promise<never>;
  /** True from the first `stop` on: errors are then only consequences. */
  readonly isStopping: boolean;
}

/** Installs the signal handlers. `tell` prints a line for the person. */
export function createShutdown(tell: (line: string) => void): Shutdown {
  const ends: (() => unknown)[] = [];
  let stopping: Promise<never> | null = null;

  async function end(reason: string, exitCode: number): Promise<never> {
    tell(`\n${reason}`);
    setTimeout(() => process.exit(exitCode), GRACE_MS);
    for (const step of ends.reverse()) {
      try {
        await step();
      } catch (error) {
        tell(`While stopping: ${(error as Error).message}`);
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
    // Every one after the first changes nothing: terminal and npm often both send it.
    process.on(signal, () => void shutdown.stop('Stopping ...', 0));
  }
  return shutdown;
}

/**
 * Stops when npm has gone, as it has when it is killed. npm runs its scripts through a shell that may outlive it, so the
 * grandparent is watched too, where the system shows it.
 */
export function stopWithParent(shutdown: Shutdown): void {
  const ancestors = () => `${process.ppid} ${parentOf(process.ppid)}`;
  const atStart = ancestors();
  setInterval(() => {
    if (ancestors() !== atStart) void shutdown.stop('npm has ended; stopping ...', 0);
  }, PARENT_POLL_MS).unref();
}

/** Null where there is no /proc, or no such process. */
function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}
