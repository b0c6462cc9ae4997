/**
 * A queue in front of one thread. It serves first whoever has used the least of its time, so however many askers send
 * long work, another one waits for the present piece only. It refuses work that it cannot begin in time.
 */
import { LRUCache } from 'lru-cache';

export interface LaneLimits {
  /** Maximum pieces of work that wait. */
  waiting: number;
  /** The same for one asker. */
  ofOne: number;
  /** Longest wait. */
  waitMs: number;
}

/** The time that an asker has used is forgotten after so long. */
const USED_MS = 30_000;
/** Askers whose used time is kept; one that is forgotten has used none. */
const MAX_ASKERS = 10_000;

/** The work was not begun. */
export class LaneFull extends Error {
  override name = 'LaneFull';
}

export interface Lane {
  <Answer>(asker: string, run: () => Promise<Answer>): Promise<Answer>;
  /** Number of waiting pieces of work. */
  waiting(): number;
}

interface Waiting {
  begin(): void;
  refuse(): void;
}

/** The lane rejects with LaneFull, before it begins the work. `now` is a monotonic clock, ms. */
export function createLane(
  { waiting: most, ofOne, waitMs }: LaneLimits,
  now: () => number = () => performance.now(),
): Lane {
  /** Those that wait, in the order of their arrival. */
  const askers = new Map<string, Waiting[]>();
  const used = new LRUCache<string, number>({ max: MAX_ASKERS, ttl: USED_MS, noUpdateTTL: true });
  let waiting = 0;
  let isBusy = false;

  function remove(asker: string, own: Waiting[], one: Waiting): void {
    own.splice(own.indexOf(one), 1);
    if (own.length === 0) askers.delete(asker);
    waiting -= 1;
  }

  /** Refuses the last piece of the asker with the most, if it has more than `fair`. So few cannot fill the queue. */
  function makeRoom(fair: number): boolean {
    const [[asker, own] = ['', []]] = [...askers].sort(([, one], [, other]) => other.length - one.length);
    if (own.length <= fair) return false;
    const last = own.at(-1)!;
    remove(asker, own, last);
    last.refuse();
    return true;
  }

  function wait(asker: string): Promise<void> {
    const count = askers.get(asker)?.length ?? 0;
    if (count >= ofOne || (waiting >= most && !makeRoom(count + 1))) return Promise.reject(new LaneFull());
    const own = askers.get(asker) ?? [];
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        begin() {
          clearTimeout(timer);
          resolve();
        },
        refuse() {
          clearTimeout(timer);
          reject(new LaneFull());
        },
      };
      const timer = setTimeout(() => {
        remove(asker, own, one);
        one.refuse();
      }, waitMs);
      own.push(one);
      askers.set(asker, own);
      waiting += 1;
    });
  }

  function beginNext(): void {
    const usedBy = (asker: string) => used.get(asker) ?? 0;
    let next: string | undefined;
    for (const asker of askers.keys()) if (next === undefined || usedBy(asker) < usedBy(next)) next = asker;
    if (next === undefined) {
      isBusy = false;
      return;
    }
    const own = askers.get(next)!;
    const [first] = own;
    remove(next, own, first!);
    first!.begin();
  }

  async function lane<Answer>(asker: string, run: () => Promise<Answer>): Promise<Answer> {
    if (isBusy) await wait(asker);
    isBusy = true;
    const begun = now();
    try {
      return await run();
    } finally {
      used.set(asker, (used.get(asker) ?? 0) + now() - begun);
      beginNext();
    }
  }
  return Object.assign(lane, { waiting: () => waiting });
}
