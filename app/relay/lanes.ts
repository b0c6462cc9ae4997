/**
 * A queue in front of one thread. It serves askers round-robin, so one asker delays another by at most one piece of
 * work. It refuses work that it cannot begin in time.
 */

export interface LaneLimits {
  /** Maximum pieces of work that wait. */
  waiting: number;
  /** The same for one asker. */
  ofOne: number;
  /** Longest wait. */
  waitMs: number;
}

/** The work was not begun. */
export class LaneFull extends Error {
  override name = 'LaneFull';
}

export interface Lane {
  <Answer>(asker: string, run: () => Promise<Answer>): Promise<Answer>;
  /** Number of waiting pieces of work. */
  waiting(): number;
}

/** The lane rejects with LaneFull, before it begins the work. */
export function createLane({ waiting: most, ofOne, waitMs }: LaneLimits): Lane {
  /** In the order of their next turns. */
  const askers = new Map<string, (() => void)[]>();
  let waiting = 0;
  let isBusy = false;

  function wait(asker: string): Promise<void> {
    const own = askers.get(asker) ?? [];
    if (waiting >= most || own.length >= ofOne) return Promise.reject(new LaneFull());
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting -= 1;
        own.splice(own.indexOf(begin), 1);
        if (own.length === 0) askers.delete(asker);
        reject(new LaneFull());
      }, waitMs);
      own.push(begin);
      askers.set(asker, own);
      waiting += 1;
    });
  }

  function beginNext(): void {
    const [first] = askers;
    if (!first) {
      isBusy = false;
      return;
    }
    const [asker, own] = first;
    const begin = own.shift()!;
    // The asker moves to the end of the queue.
    askers.delete(asker);
    if (own.length > 0) askers.set(asker, own);
    waiting -= 1;
    begin();
  }

  async function lane<Answer>(asker: string, run: () => Promise<Answer>): Promise<Answer> {
    if (isBusy) await wait(asker);
    isBusy = true;
    try {
      return await run();
    } finally {
      beginNext();
    }
  }
  return Object.assign(lane, { waiting: () => waiting });
}
