/**
 * The memory for long bodies that are still arriving. Each may take a minute, so slow clients could fill all of it. Each
 * lane has its own room, so no body of a wallet that pays is refused for what others send.
 */
import { type Asker, tooManyLarge } from '../workers.ts';

const MIB = 1024 * 1024;
/** Bytes of all bodies of a lane. A body has at most 1 MiB. */
const ROOMS: Record<Asker['lane'], Room> = {
  paid: createRoom(256 * MIB),
  newcomers: createRoom(64 * MIB),
  strangers: createRoom(64 * MIB),
};

export interface Place {
  /** Counts bytes that arrived. */
  add(bytes: number): void;
  /** The body is complete, or no longer kept. */
  leave(): void;
}

type Room = (name: string, refuse: () => void) => Place;

/** Lets a body of the asker in. `refuse` is called if it must be dropped, with the ApiError 503 for its sender. */
export function enterRoom({ lane, name }: Asker, refuse: (error: Error) => void): Place {
  return ROOMS[lane](name, () => refuse(tooManyLarge()));
}

interface Body {
  bytes: number;
  drop(): void;
}

/** While there is more than `most`, drops the longest body of the sender with the most bytes. */
function createRoom(most: number): Room {
  const senders = new Map<string, Set<Body>>();
  let total = 0;

  function makeRoom(): void {
    while (total > most) {
      const bodies = largest(senders.values(), sumOf);
      largest(bodies, ({ bytes }) => bytes).drop();
    }
  }

  return (name, refuse) => {
    const bodies = senders.get(name) ?? new Set();
    senders.set(name, bodies);
    const leave = () => {
      if (!bodies.delete(body)) return;
      total -= body.bytes;
      if (bodies.size === 0 && senders.get(name) === bodies) senders.delete(name);
    };
    const body: Body = {
      bytes: 0,
      drop() {
        leave();
        refuse();
      },
    };
    bodies.add(body);
    return {
      add(bytes) {
        body.bytes += bytes;
        total += bytes;
        makeRoom();
      },
      leave,
    };
  };
}

const sumOf = (bodies: Iterable<Body>) => [...bodies].reduce((sum, { bytes }) => sum + bytes, 0);

const largest = <One>(all: Iterable<One>, sizeOf: (one: One) => number): One =>
  [...all].reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most));
