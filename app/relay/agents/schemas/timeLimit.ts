/**
 * Interrupts a stranger's schema that runs too long, without ending the thread: a new thread takes a second to start.
 */
import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

/** For one piece of work in a thread. With an ordinary schema, a megabyte of parameters takes a tenth of it. */
export const WORK_LIMIT_MS = 500;
/** For small work on the event loop, which takes a thousandth of this. Slower work starts again in a thread. */
export const SMALL_LIMIT_MS = 50;

/** The time limit is reached. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}

const context: { run: () => unknown } = createContext({ run: () => undefined }) as { run: () => unknown };
const script = new Script('run()');

/** Returns the result of `run`. Throws OutOfTime after that many milliseconds, whatever `run` is doing. */
function withinTime<Answer>(milliseconds: number, run: () => Answer): Answer {
  context.run = run;
  try {
    return script.runInContext(context, { timeout: milliseconds }) as Answer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new OutOfTime();
  }
}

/**
 * Like `withinTime`, but fair on a busy computer: if other processes used the processor meanwhile, it runs the work
 * again.
 */
export function withinWork<Answer>(milliseconds: number, run: () => Answer): Answer {
  const before = workedMs();
  for (;;) {
    try {
      return withinTime(milliseconds, run);
    } catch (error) {
      if (!(error instanceof OutOfTime) || workedMs() - before >= milliseconds) throw error;
    }
  }
}

/** Processor time of this thread; outside Linux of the whole process, because Node 20 has no time per thread. */
function workedMs(): number {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}
