/**
 * Handles bytes by the megabyte, such as creators' answers. Copying, writing or sending them at once would block the
 * event loop. They are handled in pieces, and no turn of the loop handles two pieces, even of different requests.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** Bytes that are copied, written or sent in a millisecond or two. */
export const PIECE_BYTES = 256 * 1024;

/** Consecutive bytes in parts, as received or made: joining them would copy them. */
export type Body = readonly Uint8Array[];

export const lengthOf = (body: Body): number => body.reduce((sum, { length }) => sum + length, 0);

/** Splits the body into pieces of up to PIECE_BYTES, without copies. */
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

/** Runs functions in order of arrival, at most `places` in parallel. */
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

/** Runs the work on one piece in its own turn of the event loop. */
export const inOwnTurn = <Answer>(run: () => Answer | Promise<Answer>): Promise<Answer> =>
  inQueue(async () => {
    await turn();
    return run();
  });
