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

/** On a busy computer, work may take this many times its limit. */
const MAX_SLOWNESS = 8;

/**
 * Like `withinTime`, but fair on a busy computer: if other processes used the processor meanwhile, it runs the work
 * again, in twice the time.
 */
export function withinWork<Answer>(milliseconds: number, run: () => Answer): Answer {
  for (let slowness = 1; ; slowness *= 2) {
    const before = workedMs();
    try {
      return withinTime(milliseconds * slowness, run);
    } catch (error) {
      const isOver = workedMs() - before >= milliseconds || slowness === MAX_SLOWNESS;
      if (!(error instanceof OutOfTime) || isOver) throw error;
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
