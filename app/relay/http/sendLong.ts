/** Writes a body by the megabyte, piece by piece. */
import type { Response } from 'express';
import { type Body, inOwnTurn, piecesOf } from '../longBytes.ts';

/** Writes one piece after the other, each after the connection has taken the previous one. */
export async function sendLong(response: Response, body: Body): Promise<void> {
  const gone = new Promise<void>((resolve) => void response.once('close', resolve));
  for (const piece of piecesOf(body)) {
    await inOwnTurn(() => undefined);
    // A write to a closed connection is an error that nobody handles.
    if (response.destroyed) return;
    const taken = new Promise<void>((resolve) => void response.write(together(piece), () => resolve()));
    await Promise.race([taken, gone]);
  }
  response.end();
}

export const together = (body: Body): Uint8Array => (body.length === 1 ? body[0]! : Buffer.concat(body));
