/**
 * Bytes by the megabyte, such as answers of creators: to copy, write or send them at once would hold the event loop, so it
 * is done in pieces, and no turn of the loop has two of them, whosever they are.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** What is copied, written or sent in a millisecond or two. */
export const PIECE_BYTES = 256 * 1024;

/** Bytes in parts that lie one after another, as they came or were made: putting them together would copy them. */
export type Body = readonly Uint8Array[];

export const lengthOf = (body: Body): number => body.reduce((sum, { length }) => sum + length, 0);

/** The same in pieces of up to PIECE_BYTES, none of which is a copy. */
export function* piecesOf(body: Body): Generator<Uint8Array[]> {
  let piece: Uint8Array[] = [];
  let room = PIECE_BYTES;
  for (const part of body) {
    for (let at = 0; at < part.length; ) {
      const next = part.subarray(at, at + room);
      piece.push(next);
      at += next.length;
      room -= next.length;
      if (room > 0) continue;
      yield piece;
      [piece, room] = [[], PIECE_BYTES];
    }
  }
  if (piece.length > 0) yield piece;
}

/** Runs what it is given in the order in which it came, so many beside each other. */
export function createQueue(places = 1) {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return async <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
    if (taken < places) taken += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    }
  };
}

const inQueue = createQueue();

/** Does what one piece takes in a turn of the event loop in which no other's is done. */
export const inOwnTurn = <Answer>(run: () => Answer | Promise<Answer>): Promise<Answer> =>
  inQueue(async () => {
    await turn();
    return run();
  });
