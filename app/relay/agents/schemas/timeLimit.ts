/**
 * Interrupts a stranger's schema that runs too long, without ending the thread: a new thread takes a second to start.
 */
import { createContext, Script } from 'node:vm';

/** The time limit is reached. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}

const context: { run: () => unknown } = createContext({ run: () => undefined }) as { run: () => unknown };
const script = new Script('run()');

/** Returns the result of `run`. Throws OutOfTime after that many milliseconds, whatever `run` is doing. */
export function withinTime<Answer>(milliseconds: number, run: () => Answer): Answer {
  context.run = run;
  try {
    return script.runInContext(context, { timeout: milliseconds }) as Answer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new OutOfTime();
  }
}
