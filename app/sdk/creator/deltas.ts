/** Streams a creator's output while it is made, to a marketplace that accepts it. The signed answer comes at the end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EVENT_STREAM, isEventStream, renderEvent } from '../wire/eventStream.ts';

/** The marketplace reads at most 5 MiB of deltas and answer together. This leaves room for the answer. */
const MAX_DELTA_BYTES = 1024 * 1024;

/** Sends a part of the output. Resolves when the next one can be sent. Does nothing if the call accepts no stream. */
export type SendDelta = (text: string) => Promise<void>;

export interface Deltas {
  send: SendDelta;
  /** Ends the stream with the answer. False if no stream began: then send the answer as usual. */
  finish(answer: Buffer): boolean;
}

/** The stream of one response, which begins with its first delta. */
export function createDeltas(request: IncomingMessage, response: ServerResponse): Deltas {
  const isAccepted = isEventStream(request.headers.accept);
  let isOpen = false;
  let bytes = 0;
  return {
    async send(text) {
      const event = renderEvent('delta', JSON.stringify({ text }));
      bytes += Buffer.byteLength(event);
      if (!isAccepted || response.destroyed || response.writableEnded || bytes > MAX_DELTA_BYTES) return;
      if (!isOpen) response.writeHead(200, { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' });
      isOpen = true;
      if (response.write(event)) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          response.off('drain', done).off('close', done);
          resolve();
        };
        response.once('drain', done).once('close', done);
      });
    },
    finish(answer) {
      if (isOpen) response.end(renderEvent('result', answer.toString('utf8')));
      return isOpen;
    },
  };
}
