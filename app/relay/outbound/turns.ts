/** Limits the long answers of one server that are read in parallel, because each is held in memory. */

/** Grants turns in the order of the requests. The returned function gives the turn back. */
export interface Turns {
  /** Rejects with the signal's reason once it aborts. */
  take(signal: AbortSignal): Promise<() => void>;
}

function createTurns(count: number, onIdle: () => void): Turns {
  let taken = 0;
  const waiting = new Set<() => void>();

  function give(): () => void {
    taken += 1;
    return () => {
      taken -= 1;
      const [next] = waiting;
      if (next) next();
      else if (taken === 0) onIdle();
    };
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (taken < count) return give();
      return new Promise((resolve, reject) => {
        const abort = () => {
          waiting.delete(proceed);
          reject(signal.reason);
        };
        const proceed = () => {
          waiting.delete(proceed);
          signal.removeEventListener('abort', abort);
          resolve(give());
        };
        waiting.add(proceed);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
  };
}

/** The turns of each server, by the origin of its URL. */
export function createTurnsByServer(count: number): (url: string) => Turns {
  const servers = new Map<string, Turns>();
  return (url) => {
    const { origin } = new URL(url);
    return {
      // Kept only while a turn is taken: most answers are short and never need one.
      take(signal) {
        signal.throwIfAborted();
        const turns = servers.get(origin) ?? createTurns(count, () => servers.delete(origin));
        servers.set(origin, turns);
        return turns.take(signal);
      },
    };
  };
}
